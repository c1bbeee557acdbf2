/** `quartet tunnel import`: objects of `networking.cfargotunnel.com` as ours (TUN-1016). */
import { parseArgs } from "node:util";
import type { OfflineCommand } from "@quartet/core";
import { importObjects } from "../migration/import.ts";
import { migratedText } from "../migration/manifests.ts";
import { callOf, oneFile, readManifests } from "./file-command.ts";

const USAGE = "quartet tunnel import FILE|- [--suffix=-cf] [--migrate-local-config]";
const SUFFIX = /^[a-z0-9-]{0,20}$/;

/** The command. */
export const IMPORT: OfflineCommand = {
  words: "tunnel import",
  help: "FILE|- [--suffix=TEXT] [--migrate-local-config]: prints objects of networking.cfargotunnel.com (adyanth/cloudflare-operator) as those of this operator, and what could not be carried over; needs no cluster",
  async text(args) {
    const { file, options } = callOf(USAGE, () => {
      const known = { suffix: { type: "string" }, "migrate-local-config": { type: "boolean" } } as const;
      const { values, positionals } = parseArgs({ args: [...args], options: known, allowPositionals: true });
      const { suffix = "", "migrate-local-config": migrateLocalConfig = false } = values;
      if (!SUFFIX.test(suffix) || suffix.endsWith("-"))
        throw new Error("--suffix: up to 20 lower-case letters, digits and -, not ending in -");
      return { file: oneFile(positionals), options: { suffix, migrateLocalConfig } };
    });
    return migratedText(importObjects(await readManifests(file), options));
  },
};
