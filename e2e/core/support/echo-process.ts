/** The Echo controller as a process of its own, to be killed: `echo-process.ts CLEANUP_URL FLAG…`. */
import { startManager } from "@quartet/manager";
import { createEchoModule } from "../../echo/echo.ts";

const [cleanupUrl = "", ...args] = process.argv.slice(2);
const { webhooks: _, ...module } = createEchoModule({ cleanupUrl });
const { ended } = await startManager({ modules: [module], args });
process.exitCode = (await ended).code;
