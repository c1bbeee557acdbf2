import type { Job, JsonMap, Pod } from "@quartet/core/kinds";
import { describe, expect, it } from "vitest";
import { jobState, lastFailure } from "./job-state.ts";

describe("state of a Job", () => {
  const job = (conditions: JsonMap[]): Job => ({
    apiVersion: "batch/v1",
    kind: "Job",
    spec: { template: { metadata: {}, spec: { containers: [] } } },
    metadata: { name: "j", uid: "u" },
    status: { conditions: conditions as never },
  });

  it("NACOS-707 is told by its conditions", () => {
    const condition = (type: string, status = "True"): JsonMap => ({ type, status, reason: "Why" });
    expect(jobState(job([]))).toEqual({ state: "running" });
    expect(jobState(job([condition("FailureTarget")]))).toEqual({ state: "running" });
    expect(jobState(job([condition("Failed", "False")]))).toEqual({ state: "running" });
    expect(jobState(job([condition("SuccessCriteriaMet"), condition("Complete")]))).toEqual({
      state: "complete",
    });
    expect(jobState(job([condition("Failed")]))).toEqual({ state: "failed", reason: "Why" });
  });

  it("NACOS-707 names the container that failed last among the Job's own pods", () => {
    const end = (name: string, exitCode: number, finishedAt: string): JsonMap => ({
      name,
      state: { terminated: { exitCode, reason: "Error", finishedAt } },
    });
    const pod = (uid: string, status: JsonMap): Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: uid,
        ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid, controller: true }],
      },
      status: status as NonNullable<Pod["status"]>,
    });
    const pods = [
      pod("u", { containerStatuses: [end("mysql-sql-init", 1, "2026-01-01T00:00:02Z")] }),
      pod("u", {
        initContainerStatuses: [
          end("mysql-create-database", 3, "2026-01-01T00:00:03Z"),
          end("mysql-wait-server", 0, "2026-01-01T00:00:09Z"),
        ],
      }),
      pod("other", { containerStatuses: [end("x", 9, "2026-01-01T00:00:09Z")] }),
    ];
    expect(lastFailure(job([]), pods)).toEqual({
      container: "mysql-create-database",
      exitCode: 3,
      reason: "Error",
    });
    expect(lastFailure(job([]), [])).toBeUndefined();
  });
});
