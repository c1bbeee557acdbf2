/** Reloads without a shell: by HTTP, and by a signal. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createScene, eventually, type Scene } from "./agent.testkit.ts";

let scene: Scene;
let server: Server | undefined;
const children = new Set<ChildProcess>();
beforeEach(() => {
  scene = createScene();
  scene.write("values.yaml", "name: one\n");
});
afterEach(async () => {
  await scene.close();
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const FILE = ["--backend", "file", "--watch-error-backoff", "100ms"];
const args = (...more: string[]): string[] => [...FILE, "--file", scene.path("values.yaml"), ...more];
const out = (name: string, ...lines: string[]): void =>
  scene.resource(name, { keys: ["/name"], template: '{{getv "/name"}}', lines });

/** Answers in turn, the last for ever; what was asked of it. */
async function serving(
  ...answers: readonly [status: number, text: string][]
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  server = createServer((request, response) => {
    const [status, text] = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(`${request.method} ${request.url}`);
    if (status === 0) return;
    response.writeHead(status, { location: "/elsewhere" }).end(text);
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A process with the name; resolves with the signal that ended it. */
function service(name: string): { pid: number; ended: Promise<NodeJS.Signals | null> } {
  const program = scene.path(name);
  if (!scene.exists(name)) copyFileSync("/bin/sleep", program);
  const child = spawn(program, ["600"], { stdio: "ignore" });
  children.add(child);
  return {
    pid: child.pid!,
    ended: new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal))),
  };
}

it("CONFD-CMD-14 CONFD-PROC-17 a request is one for all that changed together, and is made again until it succeeds", async () => {
  const { url, asked } = await serving([200, "done"], [503, "busy\n"], [301, ""], [200, "done"]);
  const line = `reload_http = "${url}/-/reload"`;
  for (const name of ["a", "b"]) out(name, line);
  expect((await scene.run(args("--onetime"))).code).toBe(0);
  expect(asked).toEqual(["POST /-/reload"]);
  out("c", line);
  const agent = scene.start(args("--watch"));
  await eventually(agent.log, (log) => log.includes("works again"));
  expect(asked).toEqual(Array.from({ length: 4 }, () => "POST /-/reload"));
  expect(agent.log()).toContain('Reload failed: HTTP 503: "busy\\n"; it stays due');
  expect(agent.log()).toContain("Reload failed: HTTP 301");
  expect((await agent.stop()).code).toBe(0);
});

it("CONFD-CMD-14 a request that hangs is given up, and one that nobody takes is named", async () => {
  const { url } = await serving([0, ""]);
  out("hangs", `reload_http = "PUT ${url}"`, 'reload_cmd_timeout = "300ms"');
  out("nobody", 'reload_http = "GET http://127.0.0.1:1/"');
  const { code, stderr } = await scene.run(args("--onetime"));
  expect(code).toBe(1);
  expect(stderr).toContain("Reload failed: timed out after 300ms");
  expect(stderr).toMatch(/Reload failed: .*(ECONNREFUSED|bad port)/);
  expect([scene.read("hangs"), scene.read("nobody")]).toEqual(["one", "one"]);
});

it("CONFD-CMD-15 a signal reaches the process of a name, and that of a file", async () => {
  const named = service("confd-t-named");
  const filed = service("confd-t-filed");
  scene.write("pid", `${filed.pid}\n`);
  out("a", 'reload_signal = "confd-t-named:HUP"');
  out("b", `reload_signal = "${scene.path("pid")}:SIGUSR1"`);
  expect((await scene.run(args("--onetime"))).code).toBe(0);
  expect(await Promise.all([named.ended, filed.ended])).toEqual(["SIGHUP", "SIGUSR1"]);
});

it("CONFD-CMD-15 of processes of one name the first one is told, which tells those that it started", async () => {
  const program = scene.path("confd-t-master");
  copyFileSync("/bin/sh", program);
  const script = `trap 'echo told >> ${scene.path("told")}' HUP; (trap 'echo worker >> ${scene.path("told")}' HUP; while :; do sleep 0.1; done) & echo $! > ${scene.path("worker")}; while :; do sleep 0.1; done`;
  const master = spawn(program, ["-c", script], { stdio: "ignore" });
  children.add(master);
  await eventually(() => scene.exists("worker") && scene.read("worker") !== "", Boolean);
  out("a", 'reload_signal = "confd-t-master:HUP"');
  try {
    expect((await scene.run(args("--onetime"))).code).toBe(0);
    await eventually(() => scene.exists("told"), Boolean);
    expect(scene.read("told")).toBe("told\n");
  } finally {
    process.kill(Number(scene.read("worker")), "SIGKILL");
  }
});

it("CONFD-CMD-15 a process that is not there, or a file that holds none, is named", async () => {
  scene.write("pid", "0");
  out("a", 'reload_signal = "confd-t-nobody:HUP"');
  out("b", `reload_signal = "${scene.path("pid")}:HUP"`);
  const { code, stderr } = await scene.run(args("--onetime"));
  expect(code).toBe(1);
  expect(stderr).toContain("Reload failed: no process confd-t-nobody");
  expect(stderr).toContain("pid holds no number of a process");
});

it("CONFD-CMD-15 the agent's own number comes from another container: nobody was told", async () => {
  scene.write("pid", String(process.pid));
  out("a", `reload_signal = "${scene.path("pid")}:WINCH"`);
  const { code, stderr } = await scene.run(args("--onetime"));
  expect(code).toBe(1);
  expect(stderr).toContain(`pid holds ${process.pid}, which is the agent or what started it`);
});

it("CONFD-CMD-15 a pipe in the place of a file with a number stops nobody", async () => {
  execFileSync("/usr/bin/mkfifo", [scene.path("pid")]);
  out("a", `reload_signal = "${scene.path("pid")}:HUP"`);
  const agent = scene.start(args("--onetime"));
  expect((await agent.ended()).code).toBe(1);
  expect(agent.log()).toContain("pid holds no number of a process");
});

it("CONFD-CMD-15 all processes of a name are told, also behind one that may not be", async () => {
  const services = [service("confd-t-many"), service("confd-t-many")];
  const [first, second] = services.map(({ pid }) => pid).sort((a, b) => a - b);
  const kill = vi.spyOn(process, "kill").mockImplementationOnce(() => {
    throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
  });
  try {
    out("a", 'reload_signal = "confd-t-many:HUP"');
    const { code, stderr } = await scene.run(args("--onetime"));
    expect(kill.mock.calls).toEqual([
      [first, "SIGHUP"],
      [second, "SIGHUP"],
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain(`process ${first} of confd-t-many: kill EPERM`);
  } finally {
    kill.mockRestore();
  }
});

it.each([
  ['reload_http = "http://u:p@h:99999/"', "is no request: use"],
  ['reload_http = "ftp://h/"', "is no request: use"],
  ['reload_http = "http://u:p@h/"', "a password cannot be part of the address"],
  ['reload_signal = "nginx"', 'is no signal of a process: use "nginx:HUP"'],
  ['reload_signal = "run/nginx.pid:HUP"', "is no signal of a process"],
  ['reload_signal = "nginx:NOPE"', "is no signal of a process"],
  [
    'reload_signal = "nginx:HUP"\nreload_cmd = "true"',
    "reload_cmd, reload_http and reload_signal: give one of them",
  ],
])("CONFD-CMD-14 CONFD-CMD-15 %s is refused when it is loaded", async (line, problem) => {
  out("a", line);
  const { code, stderr } = await scene.run(args("--onetime"));
  expect(code).toBe(1);
  expect(stderr).toContain(problem);
  expect(stderr).not.toContain("u:p");
  expect(scene.exists("a")).toBe(false);
});
