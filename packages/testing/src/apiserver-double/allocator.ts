/** Addresses and ports of services. */
import { record, records } from "./json.ts";
import type { WriteContext } from "./registry.ts";
import type { Store } from "./store.ts";

/** Services get addresses of 10.0.0.0/16, beginning after the API server's own. */
const FIRST_ADDRESS = 10;
const ADDRESSES = 65_000;
/** Range of node ports. */
const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2768;

type Allocator = Pick<WriteContext, "allocateClusterIp" | "allocateNodePort">;

export function createAllocator(store: Store): Allocator {
  let address = 0;
  let port = 0;
  const services = () => store.list("services").map((service) => record(service.spec));
  return {
    allocateClusterIp() {
      const used = new Set(services().map((spec) => spec.clusterIP));
      for (;;) {
        const number = FIRST_ADDRESS + (address % ADDRESSES);
        address += 1;
        const candidate = `10.0.${Math.floor(number / 256)}.${number % 256}`;
        if (!used.has(candidate)) return candidate;
      }
    },
    allocateNodePort() {
      const used = new Set(services().flatMap((spec) => records(spec.ports).map((entry) => entry.nodePort)));
      for (;;) {
        const candidate = FIRST_NODE_PORT + (port % NODE_PORTS);
        port += 1;
        if (!used.has(candidate)) return candidate;
      }
    },
  };
}
