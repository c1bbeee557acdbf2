/** What is run where recorded cases are played. */
import type { ArenaOptions } from "@quartet/testing/replay";
import { nacosModule } from "../../src/index.ts";

/** What is recorded are the objects; the nodes behind the pods are not played. */
export const RUN: ArenaOptions = { modules: [nacosModule], flags: { "nacos-skip-node-check": true } };
