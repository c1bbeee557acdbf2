/**
 * `npm run bench:confd`: the confd agent on a real etcd server, 100 files over 10,000 keys. Where `QUARTET_TEST_CONFD` names
 * a binary of confd 0.16 that is measured in the same run.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EtcdServer, startEtcd } from "../packages/confd-agent/src/servers.testkit.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../tools/bundle.ts";

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

interface Figures {
  readonly startMs: number;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly idleCpu: number;
  readonly rssMiB: number;
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
const program = [process.execPath, ...NODE_FLAGS, bundle];
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
try {
  for (let file = 0; file < FILES; file++) {
    await etcd.put(
      Object.fromEntries(Array.from({ length: KEYS_PER_FILE }, (_, key) => [`/bench/${file}/${key}`, "0"])),
    );
  }
  console.log(
    `${etcd.version}, Node.js ${process.version}, ${cpus().length} CPUs, ${FILES} files over ${FILES * KEYS_PER_FILE} keys`,
  );
  console.log(
    "| | start, ms | all files, ms | change, median ms | change, p95 ms | idle CPU, % | RSS, MiB |",
  );
  console.log("|---|---|---|---|---|---|---|");
  for (const subject of subjects) console.log(row(subject.name, await measure(subject, etcd)));
} finally {
  await etcd.close();
}

function row(name: string, figures: Figures): string {
  const { startMs, firstMs, medianMs, p95Ms, idleCpu, rssMiB } = figures;
  const cells = [startMs, firstMs, medianMs, p95Ms, idleCpu, rssMiB].map((value) => value.toFixed(1));
  return `| ${name} | ${cells.join(" | ")} |`;
}

async function measure({ command, environment = {} }: Subject, server: EtcdServer): Promise<Figures> {
  const [program = "", ...flags] = command;
  const env = { ...process.env, ...environment };
  const starts = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    spawnSync(program, [...flags, "-version"], { env });
    return performance.now() - began;
  });
  const folder = mkdtempSync(join(tmpdir(), "confd-bench-"));
  writeResources(folder);
  const began = performance.now();
  const args = [
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
  const child = spawn(program, [...flags, ...args], { env, stdio: ["ignore", "ignore", 2] });
  try {
    await until(() =>
      Array.from({ length: FILES }, (_, file) => file).every((file) =>
        existsSync(join(folder, `out${file}`)),
      ),
    );
    const firstMs = performance.now() - began;
    await sleep(3000);
    const times = await changes(folder, server);
    await sleep(3000);
    const before = cpuTicks(child);
    await sleep(IDLE_MS);
    const idleCpu = (100 * (cpuTicks(child) - before)) / TICKS / (IDLE_MS / 1000);
    return {
      startMs: percentile(starts, 0.5),
      firstMs,
      medianMs: percentile(times, 0.5),
      p95Ms: percentile(times, 0.95),
      idleCpu,
      rssMiB: residentMiB(child),
    };
  } finally {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    rmSync(folder, { recursive: true });
  }
}

function writeResources(folder: string): void {
  mkdirSync(join(folder, "conf.d"));
  mkdirSync(join(folder, "templates"));
  for (let file = 0; file < FILES; file++) {
    const dest = join(folder, `out${file}`);
    writeFileSync(
      join(folder, "conf.d", `f${file}.toml`),
      `[template]\nsrc = "f.tmpl"\ndest = "${dest}"\nprefix = "/bench/${file}"\nkeys = ["/"]\n`,
    );
  }
  writeFileSync(join(folder, "templates/f.tmpl"), '{{range gets "/*"}}{{.Key}}={{.Value}}\n{{end}}');
}

/** Times from the commit of a change to its value in the file. */
async function changes(folder: string, server: EtcdServer): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < CHANGES; round++) {
    const file = (round * 37) % FILES;
    const key = (round * 53) % KEYS_PER_FILE;
    const value = `v${round}-${process.hrtime.bigint()}`;
    await server.put({ [`/bench/${file}/${key}`]: value });
    const began = performance.now();
    await until(() => readFileSync(join(folder, `out${file}`), "utf8").includes(`/${key}=${value}\n`));
    times.push(performance.now() - began);
    await sleep(50);
  }
  return times;
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
