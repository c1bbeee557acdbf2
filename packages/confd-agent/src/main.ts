/** Entry of the program `quartet-confd`. */
import { crash, runCli } from "./cli.ts";

let code: number;
try {
  code = await runCli({
    args: process.argv.slice(2),
    environment: process.env,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    onSignal: (names, call) => {
      for (const name of names) process.on(name, call);
      return () => {
        for (const name of names) process.off(name, call);
      };
    },
    exit: (status) => process.exit(status),
  });
} catch (error) {
  process.stderr.write(`${crash(error)}\n`);
  code = 1;
}
// What still runs must not keep the process: everything that matters has ended. Pipes are written asynchronously.
process.exitCode = code;
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
