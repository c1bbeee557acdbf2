/**
 * `npm run bench:confd`: the confd agent on a real etcd server, 100 files over 10,000 keys. Where `QUARTET_TEST_CONFD` names
 * a binary of confd 0.16 that is measured in the same run. The files are in the system's folder for temporary ones
 * (`TMPDIR`), whose file system decides when they are flushed.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENT_NODE_FLAGS } from "../packages/confd-agent/bundle.ts";
import { flushTime } from "../packages/confd-agent/src/files/flush.ts";
import { type EtcdServer, startEtcd } from "../packages/confd-agent/src/servers.testkit.ts";
import { NODE_ENVIRONMENT } from "../tools/bundle.ts";

const FILES = 100;
const KEYS_PER_FILE = 100;
/** Changes of keys that are timed. */
const CHANGES = 100;
const STARTS = 5;
const IDLE_MS = 20_000;
/** Ticks of the kernel's CPU times per second on Linux. */
const TICKS = 100;
/** Longest wait for anything. */
const LIMIT_MS = 120_000;

interface Subject {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A subject that runs. */
interface Running {
  readonly name: string;
  readonly child: ChildProcess;
  readonly folder: string;
  readonly prefix: string;
  /** From its start until all files were there, in milliseconds. */
  readonly firstMs: number;
  close(): Promise<void>;
}

const root = join(import.meta.dirname, "..");
const bundle = join(root, "packages/confd-agent/dist/quartet-confd.mjs");
const build = [
  process.execPath,
  "--conditions=quartet-source",
  join(root, "packages/confd-agent/build.ts"),
] as const;
const built = spawnSync(build[0], build.slice(1), { stdio: ["ignore", 2, 2] });
if (built.status !== 0) process.exit(built.status ?? 1);

const original = process.env.QUARTET_TEST_CONFD;
const program = [process.execPath, ...AGENT_NODE_FLAGS, bundle];
const subjects: Subject[] = [
  { name: "quartet-confd", command: program, environment: NODE_ENVIRONMENT },
  {
    name: "quartet-confd, `-fsync=false`",
    command: program,
    environment: { ...NODE_ENVIRONMENT, CONFD_FSYNC: "false" },
  },
  ...(original ? [{ name: "confd 0.16", command: [original] }] : []),
];
if (!original) console.error("confd 0.16: NOT RUN (QUARTET_TEST_CONFD names no binary)");

const etcd = await startEtcd();
const running: Running[] = [];
try {
  const figures = subjects.map(() => ({ times: [] as number[] }));
  const starts = subjects.map((subject) => startTime(subject));
  for (const subject of subjects) running.push(await launch(subject, etcd));
  await sleep(3000);
  // In turns, so that whatever else the machine does is the same for all.
  for (let round = 0; round < CHANGES; round++) {
    for (let turn = 0; turn < running.length; turn++) {
      const index = (round + turn) % running.length;
      figures[index]!.times.push(await change(running[index]!, etcd, round));
      await sleep(20);
    }
  }
  await sleep(3000);
  const before = running.map(({ child }) => cpuTicks(child));
  await sleep(IDLE_MS);
  const idle = running.map(
    ({ child }, index) => (100 * (cpuTicks(child) - before[index]!)) / TICKS / (IDLE_MS / 1000),
  );
  console.log(
    `${etcd.version}, Node.js ${process.version}, ${cpus().length} CPUs, ${FILES} files over ${FILES * KEYS_PER_FILE} keys, ${CHANGES} changes, flushing: ${flushTime(join(running[0]!.folder, "out0"))}, load ${loadavg()[0]!.toFixed(1)}`,
  );
  console.log(
    "| | start, ms | all files, ms | change, median ms | change, p95 ms | idle CPU, % | RSS, MiB |",
  );
  console.log("|---|---|---|---|---|---|---|");
  for (const [index, { name, child, firstMs }] of running.entries()) {
    const { times } = figures[index]!;
    const cells = [
      starts[index]!,
      firstMs,
      percentile(times, 0.5),
      percentile(times, 0.95),
      idle[index]!,
      residentMiB(child),
    ];
    console.log(`| ${name} | ${cells.map((value) => value.toFixed(1)).join(" | ")} |`);
  }
} finally {
  for (const one of running) await one.close();
  await etcd.close();
}

/** Median time of a call that prints the version, in milliseconds. */
function startTime({ command, environment }: Subject): number {
  const [program = "", ...flags] = command;
  const env = { ...process.env, ...environment };
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    spawnSync(program, [...flags, "-version"], { env });
    return performance.now() - began;
  });
  return percentile(times, 0.5);
}

/** Starts a subject on keys of its own, and waits for all its files. */
async function launch({ name, command, environment }: Subject, server: EtcdServer): Promise<Running> {
  const prefix = `/bench${running.length}`;
  for (let file = 0; file < FILES; file++) {
    await server.put(
      Object.fromEntries(
        Array.from({ length: KEYS_PER_FILE }, (_, key) => [`${prefix}/${file}/${key}`, "0"]),
      ),
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "confd-bench-"));
  writeResources(folder, prefix);
  const began = performance.now();
  const [first = "", ...flags] = command;
  const own = [
    "-backend",
    "etcdv3",
    "-node",
    server.address,
    "-confdir",
    folder,
    "-watch",
    "-log-level",
    "error",
  ];
  const env = { ...process.env, ...environment };
  const child = spawn(first, [...flags, ...own], { env, stdio: ["ignore", "ignore", 2] });
  await until(() =>
    Array.from({ length: FILES }, (_, file) => file).every((file) => existsSync(join(folder, `out${file}`))),
  );
  return {
    name,
    child,
    folder,
    prefix,
    firstMs: performance.now() - began,
    close: async () => {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
      rmSync(folder, { recursive: true });
    },
  };
}

function writeResources(folder: string, prefix: string): void {
  mkdirSync(join(folder, "conf.d"));
  mkdirSync(join(folder, "templates"));
  for (let file = 0; file < FILES; file++) {
    const dest = join(folder, `out${file}`);
    writeFileSync(
      join(folder, "conf.d", `f${file}.toml`),
      `[template]\nsrc = "f.tmpl"\ndest = "${dest}"\nprefix = "${prefix}/${file}"\nkeys = ["/"]\n`,
    );
  }
  writeFileSync(join(folder, "templates/f.tmpl"), '{{range gets "/*"}}{{.Key}}={{.Value}}\n{{end}}');
}

/** Time from the commit of a change to its value in the file. */
async function change({ folder, prefix }: Running, server: EtcdServer, round: number): Promise<number> {
  const file = (round * 37) % FILES;
  const key = (round * 53) % KEYS_PER_FILE;
  const value = `v${round}-${process.hrtime.bigint()}`;
  await server.put({ [`${prefix}/${file}/${key}`]: value });
  const began = performance.now();
  await until(() => readFileSync(join(folder, `out${file}`), "utf8").includes(`/${key}=${value}\n`));
  return performance.now() - began;
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error("nothing more happens");
    await sleep(1);
  }
}

/** User and system time of a process. */
function cpuTicks({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function residentMiB({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}
