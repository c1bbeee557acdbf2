/** Entry of the program `quartet`. */
import { totalmem } from "node:os";
import { runCli } from "./cli.ts";
import { heapLimit, restartWithLimit } from "./heap.ts";
import { MODULES } from "./modules.ts";

const limit = heapLimit({
  constrainedMemory: process.constrainedMemory(),
  totalMemory: totalmem(),
  execArgv: process.execArgv,
  nodeOptions: process.env.NODE_OPTIONS,
});
if (limit !== undefined) restartWithLimit(limit);

const code = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  modules: MODULES,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal(signal, fn) {
    process.on(signal, fn);
    return () => void process.off(signal, fn);
  },
  exit: (status) => process.exit(status),
});
// What still runs must not keep the process: everything that matters has ended. Pipes are written asynchronously.
process.exitCode = code;
process.stdout.write("", () => process.exit(code));
