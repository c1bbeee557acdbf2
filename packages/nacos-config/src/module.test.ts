import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nacosModule } from "./index.ts";

describe("module", () => {
  it("NACOS-1009 asks for no more than it needs: no wildcard, nothing on pods but reading, no claims deleted", () => {
    const verbsOn = (resource: string): string[] =>
      [
        ...new Set(
          nacosModule.rights
            .filter(
              ({ kind, subresource }) => [kind.plural, subresource].filter(Boolean).join("/") === resource,
            )
            .flatMap(({ verbs }) => verbs),
        ),
      ].sort();
    expect(verbsOn("nacos")).toEqual(["get", "list", "watch"]);
    expect(verbsOn("nacos/status")).toEqual(["patch"]);
    expect(verbsOn("services")).not.toContain("delete");
    for (const resource of ["configmaps", "secrets", "services", "statefulsets", "jobs"]) {
      expect(verbsOn(resource)).not.toContain("patch");
    }
    const leases = nacosModule.rights.filter(({ kind }) => kind.plural === "leases");
    expect(leases.map(({ names }) => names)).toEqual([["219866ca.nacos.io"], ["219866ca.nacos.io"]]);
    expect(verbsOn("pods")).toEqual(["get", "list", "watch"]);
    expect(verbsOn("persistentvolumeclaims")).toEqual(["get", "list", "patch"]);
    expect(JSON.stringify(nacosModule.rights)).not.toContain('"*"');
  });

  it("names a CRD that exists, and flags with texts", () => {
    for (const file of nacosModule.crds) {
      expect(readFileSync(new URL(`../../../crds/${file}`, import.meta.url), "utf8")).toContain(
        "kind: Nacos",
      );
    }
    expect(nacosModule.flags.every(({ help }) => help.length > 0)).toBe(true);
  });
});
