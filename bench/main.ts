/** `npm run bench`: quartet beside controller-runtime on one real API server. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ControlPlane,
  type CustomResourceDefinition,
  installCrds,
  startControlPlane,
  testClient,
  testNamespace,
} from "@quartet/testing";
import { parse } from "yaml";
import { measureDouble } from "./double.ts";
import { measureFleet } from "./fleet.ts";
import { type Bench, measureMemory, measureRawWrites, measureWork, SUBJECT_CPU } from "./measures.ts";
import { BENCH_USAGE, type BenchOptions, benchOptions, orUsage } from "./options.ts";
import { createPods } from "./pods.ts";
import { resultText, withResults } from "./report.ts";
import { rotated } from "./statistics.ts";
import { goSubject, quartetSubject, type Subject } from "./subject.ts";
import { coldStartMeasure, MEASURES, type Measure, memoryMeasure } from "./table.ts";

const ROOT = join(import.meta.dirname, "..");
const DOCUMENT = join(ROOT, "docs/performance.md");

type Notes = Map<Subject["name"], Map<string, number[]>>;

const options = orUsage(BENCH_USAGE, () => benchOptions(process.argv.slice(2)));
const folder = mkdtempSync(join(tmpdir(), "quartet-bench-"));
try {
  await main(options);
  rmSync(folder, { recursive: true, force: true });
} catch (error) {
  console.error(`the benchmark ended early; logs of the subjects are in ${folder}`);
  throw error;
}

async function main({ profile, pin, runs, pods, write }: BenchOptions): Promise<void> {
  const go = goSubject(folder);
  if (go === undefined) console.error("controller-runtime: NOT RUN (no Go)");
  const subjects = [await quartetSubject(folder, profile), ...(go ? [go] : [])];
  const double = await measureDouble();
  const plane = await startControlPlane({
    benchmark: true,
    kwok: false,
    scheduler: false,
    controllerManager: false,
    onProgress: console.error,
  });
  try {
    if (pin) await pinServers(plane);
    const client = testClient(await plane.kubeconfig());
    await installCrds(client, [echoCrd()]);
    const bench = { plane, client, folder, options };
    const kubeconfig = join(folder, "fleet.yaml");
    writeFileSync(kubeconfig, await plane.kubeconfig(), { mode: 0o600 });
    const fleet = await measureFleet(kubeconfig, await plane.kubeconfig());
    const notes: Notes = new Map(subjects.map(({ name }) => [name, new Map()]));
    const raw: number[] = [];
    for (let run = 0; run < runs; run++) {
      await runWork(bench, rotated(subjects, run), run, notes);
      raw.push(await measureRawWrites(bench));
      console.error(`  raw writes: ${raw.at(-1)!.toFixed(3)}`);
    }
    await runMemory(bench, subjects, notes);
    client.close();
    const memory = pods.flatMap((count) => [
      memoryMeasure(count, "full"),
      memoryMeasure(count, "metadata"),
      coldStartMeasure(count),
    ]);
    const text = resultText({
      options,
      measures: [...MEASURES, ...memory].sort((a, b) => numberOf(a) - numberOf(b)),
      ours: notes.get("quartet")!,
      theirs: notes.get("controller-runtime"),
      rawWrites: raw,
      double,
      fleet,
      server: plane.version,
    });
    console.log(text);
    if (write) writeFileSync(DOCUMENT, withResults(readFileSync(DOCUMENT, "utf8"), text));
  } finally {
    await plane.stop();
  }
}

/** 5 of `B5 1000`. */
function numberOf({ id }: Measure): number {
  return Number(/\d+/.exec(id)![0]);
}

async function runWork(bench: Bench, subjects: readonly Subject[], run: number, notes: Notes): Promise<void> {
  for (const subject of subjects) {
    console.error(`run ${run + 1} of ${bench.options.runs}: ${subject.name}`);
    await measureWork(bench, subject, (id, value) => noteIn(notes, subject, id, value));
  }
}

async function runMemory(bench: Bench, subjects: readonly Subject[], notes: Notes): Promise<void> {
  const { pods, runs } = bench.options;
  const namespace = await testNamespace(bench.client);
  let created = 0;
  for (const count of pods) {
    console.error(`memory with ${count} pods`);
    await createPods(bench.client, namespace.name, created, count);
    created = count;
    for (let run = 0; run < runs; run++) {
      for (const subject of rotated(subjects, run)) {
        for (const projection of subject.projections) {
          const { seconds, mib } = await measureMemory(bench, subject, namespace.name, projection);
          noteIn(notes, subject, memoryMeasure(count, projection).id, mib);
          if (projection === "full") noteIn(notes, subject, coldStartMeasure(count).id, seconds);
        }
      }
    }
  }
}

function noteIn(notes: Notes, { name }: Subject, id: string, value: number): void {
  console.error(`  ${id}: ${value.toFixed(3)}`);
  const values = notes.get(name)!;
  values.set(id, [...(values.get(id) ?? []), value]);
}

/** Moves the control plane off the subjects' core. */
async function pinServers(plane: ControlPlane): Promise<void> {
  if (cpus().length < 2) throw new Error("--pin needs two cores: leave it out");
  const others = `${SUBJECT_CPU + 1}-${cpus().length - 1}`;
  for (const { pid } of await plane.components()) {
    if (pid) execFileSync("taskset", ["-a", "-p", "-c", others, String(pid)], { stdio: "ignore" });
  }
}

function echoCrd(): CustomResourceDefinition {
  return parse(readFileSync(join(ROOT, "e2e/echo/crd.yaml"), "utf8")) as CustomResourceDefinition;
}
