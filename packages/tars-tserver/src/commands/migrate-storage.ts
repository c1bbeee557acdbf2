/** `quartet tars migrate-storage`: everything is stored as v1beta2, and v1beta3 is no stored version any more. */
import {
  type CommandContext,
  EXIT,
  isNotFound,
  type Kind,
  keyOf,
  type ModuleCommand,
  retryOnConflict,
} from "@quartet/core";
import { CUSTOM_RESOURCE_DEFINITION } from "@quartet/core/kinds";
import { T_FRAMEWORK_CONFIG, T_SERVER } from "../kinds.ts";
import { GROUP } from "../labels.ts";

/** Version that is stored. */
const STORED = "v1beta2";
/** Kinds whose versions differ; of the others a stored v1beta3 is as good. */
const KINDS = [T_SERVER, T_FRAMEWORK_CONFIG] as readonly Kind[];

/** The command. */
export const MIGRATE_STORAGE: ModuleCommand = {
  words: "tars migrate-storage",
  help: "writes all TServers and TFrameworkConfigs anew as v1beta2 and drops v1beta3 from the stored versions",
  async run(context) {
    for (const kind of KINDS) await migrate(kind, context);
    return EXIT.clean;
  },
};

async function migrate(kind: Kind, { client, signal, print }: CommandContext): Promise<void> {
  const crd = `${kind.plural}.${GROUP}`;
  const { items } = await client.list(kind, { limit: 0, signal });
  for (const object of items) {
    const key = keyOf(object);
    // The server stores an unchanged object anew when it has it in another version, and leaves it alone otherwise.
    await retryOnConflict(client, kind, key, (live) => client.update(kind, live, { signal }), {
      signal,
    }).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
  }
  await client.patch(
    CUSTOM_RESOURCE_DEFINITION,
    { namespace: "", name: crd },
    { type: "merge", body: { status: { storedVersions: [STORED] } } },
    { signal, subresource: "status" },
  );
  print(`${crd}: ${items.length} objects are stored as ${STORED}\n`);
}
