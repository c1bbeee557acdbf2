import { describe, expect, it } from "vitest";
import { configDigest } from "./digest.ts";
import { byteLength, mergeConfig } from "./merge.ts";

const coreParameters = [
  "# Internal core parameters",
  "server.port=8848",
  "server.servlet.contextPath=/nacos",
  "nacos.core.auth.enabled=true",
].join("\n");
const userParameters = (title: string, enabled: boolean, include: string): string =>
  [
    `# User configurable parameters${title}`,
    `nacos.console.ui.enabled=${enabled}`,
    `nacos.core.param.check.enabled=${enabled}`,
    `management.endpoints.web.exposure.include=${include}`,
  ].join("\n");
const guideUser = `# 用户可修改的参数
nacos.console.ui.enabled=true
nacos.core.param.check.enabled=true
management.endpoints.web.base-path=/actuator
management.endpoints.web.exposure.include=health,info,prometheus
`;
const guideInternal = `# 核心配置参数
server.servlet.contextPath=/nacos
server.port=8848
server.tomcat.accesslog.enabled=false

# Database configuration
spring.sql.init.platform=postgresql
db.url.0=jdbc:postgresql://postgres:5432/nacos
db.user.0=nacos
db.password.0=nacos123

# Auth configuration
nacos.core.auth.enabled=true
nacos.core.auth.plugin.nacos.token.secret.key=SecretKey012345678901234567890123456789012345678901234567890123456789
`;

/** The rule book's vectors M1 to M18: sources, size and digest of the merged text. */
const vectors: [name: string, internal: string, user: string, bytes: number, digest: string][] = [
  ["M1", coreParameters, userParameters(" - Version 1", true, "health,info"), 341, "3f346e9c2f5179d9"],
  [
    "M2",
    coreParameters,
    userParameters(" - Version 2 (UPDATED)", false, "health,info,prometheus,metrics"),
    372,
    "4020c58fc30fe5f8",
  ],
  [
    "M3",
    `${coreParameters}\nnacos.naming.distro.taskDispatchThreadCount=10`,
    userParameters("", true, "health,info,prometheus"),
    387,
    "d1783137d55252b4",
  ],
  ["M4", guideInternal, guideUser, 701, "0a636216853f632b"],
  ["M5", guideInternal, guideUser.replace("ui.enabled=true", "ui.enabled=false"), 702, "9713514301f4b65a"],
  ["M6", "server.port=8848\ndb.type=embedded", "custom.property=value", 127, "30fa1e30be313977"],
  ["M7", "server.port=8848", "", 55, "1b7d86bf7d1d7f84"],
  ["M8", "", "custom.property=value", 55, "9aef7ed7a122cc98"],
  ["M9", "a=1\n", "b=2\n", 81, "e0fae26e306b8986"],
  ["M10", "a=1", "b=2", 79, "15952a176aa40df0"],
  ["M11", "a=1\r\n", "b=2\r\n", 83, "e70c19f056f6a2b4"],
  ["M12", "k=中文\n", "# 用户\nk=v\n", 95, "676fdae9626ddb1d"],
  ["M13", "a=1\\", "b=2", 80, "d111f15c9a3045ef"],
  ["M14", "a=1\n", "a=1\n", 81, "a53e4adb6e974878"],
  ["M15", "server.port=8848\n", "nacos.console.ui.enabled=true\n", 120, "c9294469fec85948"],
  ["M16", "server.port=8848\n", "nacos.console.ui.enabled=false\n", 121, "a1c9ed99c7b3b5f4"],
  ["M17", "server.port=8848\n", "", 56, "1829ad33de032944"],
  ["M18", "", "", 0, "e3b0c44298fc1c14"],
];

describe("merged configuration", () => {
  it.each(vectors)(
    "NACOS-303 NACOS-309 merges vector %s to its bytes and digest",
    (_name, internal, user, bytes, digest) => {
      const merged = mergeConfig({ internal, user });
      expect({ bytes: byteLength(merged), digest: configDigest(merged) }).toEqual({ bytes, digest });
    },
  );

  it("NACOS-305 NACOS-306 leaves out the header of an empty source and begins each header on a line of its own", () => {
    expect(mergeConfig({ internal: "a=1", user: "" })).toBe("# ===== Internal Configuration =====\na=1\n\n");
    expect(mergeConfig({ internal: "", user: "b=2" })).toBe("# ===== User Configuration =====\nb=2\n");
    for (const internal of ["a=1", "a=1\n", "a=1\r\n"]) {
      expect(mergeConfig({ internal, user: "b=2" })).toContain(`${internal}\n\n# ===== User`);
    }
  });

  it("NACOS-308 carries CRLF, tabs, other scripts and document marks over unchanged", () => {
    const text = "a=1\r\n\tb=中\n#---\nc=\\\n  d";
    expect(mergeConfig({ internal: text, user: text }).split(text)).toHaveLength(3);
  });
});
