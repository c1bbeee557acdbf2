/** Builds the program: `node --conditions=quartet-source packages/manager/build.ts`. */
import { join } from "node:path";
import { bundle } from "./bundle.ts";

const outfile = join(import.meta.dirname, "dist/manager.mjs");
const size = await bundle({ outfile });
console.error(`packages/manager/dist/manager.mjs: ${(size / 1024 / 1024).toFixed(2)} MiB`);
