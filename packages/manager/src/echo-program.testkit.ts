/** The program with the Echo controller alone, for tests that need processes of their own. */
import { runCli } from "./cli.ts";
import { echoModule } from "./echo.testkit.ts";

const code = await runCli({
  args: process.argv.slice(2),
  env: {},
  modules: [echoModule()],
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal(signal, fn) {
    process.on(signal, fn);
    return () => void process.off(signal, fn);
  },
  exit: (status) => process.exit(status),
});
process.exit(code);
