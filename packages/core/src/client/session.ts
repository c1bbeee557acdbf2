/** What all verbs of one client facade share: who sends, through what, and who is told. */
import { type Kind, keyToString, type ObjectKey } from "../object.ts";
import type { Logger } from "../observe/types.ts";
import type { PoolName } from "./agents.ts";
import type { Requester } from "./requester.ts";
import type { ClientHooks, WriteOptions } from "./types.ts";

export interface Session {
  readonly requester: Requester;
  readonly userAgent: string;
  /** `quartet-<controller>`; the field manager of applies that name none. */
  readonly fieldManager: string;
  readonly hooks: readonly ClientHooks[];
  readonly log: Logger | undefined;
  /** What writes to built-in kinds ask for when the call names nothing. */
  readonly fieldValidation: NonNullable<WriteOptions["fieldValidation"]>;
}

export const JSON_TYPE = "application/json";

/** Asks for metadata only; servers that cannot give it answer with whole objects. */
export const METADATA_TYPE: string = `application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,${JSON_TYPE}`;
export const METADATA_LIST_TYPE: string = `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${JSON_TYPE}`;

/** Leases have sockets of their own, so that a busy or hanging request cannot cost the leadership. */
export function poolOf(kind: Kind): PoolName {
  return kind.group === "coordination.k8s.io" && kind.plural === "leases" ? "leases" : "requests";
}

/** The key that a request uses: cluster-scoped kinds have no namespace, whatever the caller gave. */
export function effectiveKey(session: Session, kind: Kind, key: ObjectKey): ObjectKey {
  if (kind.namespaced || key.namespace === "") return key;
  session.log?.debug("namespace of a cluster-scoped object ignored", {
    kind: kind.kind,
    group: kind.group,
    object: keyToString(key),
  });
  return { namespace: "", name: key.name };
}

/** Same for a collection's namespace. */
export function effectiveNamespace(session: Session, kind: Kind, namespace: string | undefined): string {
  return effectiveKey(session, kind, { namespace: namespace ?? "", name: "" }).namespace;
}
