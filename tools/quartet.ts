/** `npm run -s quartet -- ARGS`: the manager. */
import { runProgram } from "./program.ts";

await runProgram("manager", "manager.mjs");
