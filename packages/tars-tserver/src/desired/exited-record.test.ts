import { expect, it } from "vitest";
import { type ExitedPod, exitedPod, withExited } from "./exited-record.ts";

const pod = (uid: string): ExitedPod =>
  ({ uid, name: uid, id: "", nodeIP: "", podIP: "", createTime: "", deleteTime: "" }) as ExitedPod;
const uids = (pods: readonly ExitedPod[] | undefined) => pods?.map(({ uid }) => uid);

it("TARS-R-080 TARS-R-081 pods that ended come first, the last one foremost, each once", () => {
  const known = ["b", "a"].map(pod);
  expect(uids(withExited(known, ["c", "a", "d"].map(pod), 10))).toEqual(["d", "c", "b", "a"]);
  expect(withExited(known, ["a"].map(pod), 10)).toBeUndefined();
});

it("TARS-R-081 the whole list is looked through, however long it is", () => {
  const known = Array.from({ length: 150 }, (_, n) => pod(`p${n}`));
  expect(withExited(known, [pod("p149")], 150)).toBeUndefined();
});

it("TARS-R-082 the oldest give way beyond the limit, also when it was lowered", () => {
  const known = ["c", "b", "a"].map(pod);
  expect(uids(withExited(known, [pod("d")], 3))).toEqual(["d", "c", "b"]);
  expect(uids(withExited(known, [pod("d")], 2))).toEqual(["d", "c"]);
});

it("TARS-R-080 the time of a pod's end is that of its mark, or else now", () => {
  const metadata = { name: "a", uid: "u", creationTimestamp: "then" };
  const gone = { apiVersion: "v1", kind: "Pod", metadata, status: { podIP: "10.0.0.1", hostIP: "10.1.0.1" } };
  expect(exitedPod(gone, "now")).toEqual({
    ...{
      uid: "u",
      name: "a",
      id: "",
      nodeIP: "10.1.0.1",
      podIP: "10.0.0.1",
      createTime: "then",
      deleteTime: "now",
    },
  });
  const marked = { ...gone, metadata: { ...metadata, deletionTimestamp: "later" } };
  expect(exitedPod(marked, "now").deleteTime).toBe("later");
});
