/** What a resource refers to, as its pass reads it. */
import {
  type DeepReadonly,
  type Kind,
  type KubeObject,
  NotCachedError,
  type Reference,
  type SourceReader,
  UnreadableError,
} from "@quartet/core";

/** Something that a resource refers to. */
export interface Interest<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly reference: Reference;
}

/** Reads what the resource of a pass refers to. */
export interface Referred {
  /** Everything that an interest covers now; `undefined` when it cannot be read. */
  read<T extends KubeObject>(interest: Interest<T>): readonly DeepReadonly<T>[] | undefined;
}

export function referredBy(cache: SourceReader): Referred {
  return {
    read({ kind, reference }) {
      try {
        return cache.referred(kind, reference);
      } catch (error) {
        if (error instanceof UnreadableError || error instanceof NotCachedError) return undefined;
        throw error;
      }
    },
  };
}
