/** What the demo shows of the agent: a file that follows a ConfigMap, kept when what comes is bad. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../paths.ts";
import { create, merge, type Stage, until } from "./stage.ts";

const CONFIG_MAP = "/api/v1/namespaces/default/configmaps/web";

/** Runs the agent on a ConfigMap with a check that refuses bad content. */
export async function confdStory(stage: Stage, folder: string, kubeconfig: string): Promise<void> {
  const { client, say } = stage;
  const target = join(folder, "web.conf");
  await create(client, configMap("8080"));
  const agent = startAgent(folder, kubeconfig, target);
  try {
    await until("the file is there", async () => contentOf(target) !== "");
    say(`quartet-confd wrote web.conf from ConfigMap web: ${contentOf(target)}`);
    await merge(client, CONFIG_MAP, { data: { port: "none" } });
    await until("the agent has told of the failed check", async () => agent.log.includes("check"));
    say(`port "none" fails the check: the file is still ${contentOf(target)}`);
    await merge(client, CONFIG_MAP, { data: { port: "9090" } });
    await until("the file has the new port", async () => contentOf(target) === "listen 9090;");
    say(`port "9090" passes: ${contentOf(target)}`);
  } finally {
    await agent.stop();
  }
}

function configMap(port: string): Parameters<typeof create>[1] & { data: Record<string, string> } {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" }, data: { port } };
}

interface Agent {
  /** What it has written to stderr. */
  readonly log: string;
  stop(): Promise<void>;
}

function startAgent(folder: string, kubeconfig: string, target: string): Agent {
  const config = join(folder, "confd");
  for (const name of ["conf.d", "templates"]) mkdirSync(join(config, name), { recursive: true });
  writeFileSync(
    join(config, "conf.d/web.toml"),
    `[template]
src = "web.tmpl"
dest = "${target}"
prefix = "/configmaps/default/web"
keys = ["/port"]
check_cmd = "grep -Eq 'listen [0-9]+;' {{.src}}"
`,
  );
  writeFileSync(join(config, "templates/web.tmpl"), 'listen {{getv "/port"}};\n');
  const program = `${repository}/packages/confd-agent/src/main.ts`;
  const flags = ["-watch", "-confdir", config, "-kubeconfig", kubeconfig];
  const child: ChildProcess = spawn(
    process.execPath,
    [...process.execArgv, program, "kubernetes", ...flags],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  return {
    get log() {
      return log;
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
