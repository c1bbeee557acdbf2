/** `npm run -s quartet-confd -- ARGS`: the agent that keeps configuration files current. */
import { runProgram } from "./program.ts";

await runProgram("confd-agent", "quartet-confd.mjs");
