/** Builds the program: `node --conditions=quartet-source packages/confd-agent/build.ts`. */
import { join } from "node:path";
import { bundle } from "./bundle.ts";

const outfile = join(import.meta.dirname, "dist/quartet-confd.mjs");
const size = await bundle({ outfile });
console.error(`packages/confd-agent/dist/quartet-confd.mjs: ${(size / 1024 / 1024).toFixed(2)} MiB`);
