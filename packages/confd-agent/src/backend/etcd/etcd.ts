/** etcd (API v3) as a source. */
import type { BackendSettings } from "../../config/settings.ts";
import type { Backend } from "../backend.ts";
import { createEtcdConnection } from "./connection.ts";
import { etcdKeys } from "./keys.ts";
import { createMirror } from "./mirror.ts";
import { askPosition } from "./position.ts";
import { readRanges } from "./read.ts";
import { createEtcdWatch } from "./watch.ts";

export function createEtcdBackend(settings: BackendSettings): Backend {
  const connection = createEtcdConnection(settings);
  const keys = etcdKeys(settings.stripLeadingSlash);
  const mirror = createMirror();
  const watch = createEtcdWatch(connection, keys, mirror);
  return {
    label: connection.label,
    read: async (ranges, { signal, atLeast }) => {
      const known = atLeast === undefined ? undefined : mirror.read(ranges, atLeast);
      if (known !== undefined) return known;
      const read = await readRanges(ranges, {
        connection,
        keys,
        maxOperations: settings.etcdMaxTxnOps,
        signal,
      });
      mirror.fill(ranges, read);
      return read;
    },
    watch,
    // Any answer will do, a refusal too.
    health: async (signal) => void (await askPosition(connection, keys.intervals("/health"), signal)),
    close: async () => connection.close(),
  };
}
