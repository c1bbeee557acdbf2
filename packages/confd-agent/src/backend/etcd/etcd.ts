/** etcd (API v3) as a source. */
import type { BackendSettings } from "../../config/settings.ts";
import type { Backend } from "../backend.ts";
import { createEtcdConnection } from "./connection.ts";
import { etcdKeys } from "./keys.ts";
import { askPosition } from "./position.ts";
import { readRanges } from "./read.ts";
import { createEtcdWatch } from "./watch.ts";

export function createEtcdBackend(settings: BackendSettings): Backend {
  const connection = createEtcdConnection(settings);
  const keys = etcdKeys(settings.stripLeadingSlash);
  const watch = createEtcdWatch(connection, keys);
  return {
    label: connection.label,
    read: (ranges, signal) =>
      readRanges(ranges, { connection, keys, maxOperations: settings.etcdMaxTxnOps, signal }),
    watch,
    // Any answer will do, a refusal too.
    health: async (signal) => void (await askPosition(connection, keys.intervals("/health"), signal)),
    close: async () => connection.close(),
  };
}
