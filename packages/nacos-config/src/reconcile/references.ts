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
  /** The same, or why it cannot be read. */
  look<T extends KubeObject>(interest: Interest<T>): Looked<T>;
}

/** Objects that an interest covers, or why they cannot be read. */
export type Looked<T extends KubeObject> =
  | { readonly objects: readonly DeepReadonly<T>[] }
  | { readonly unreadable: string };

export function referredBy(cache: SourceReader): Referred {
  const look = <T extends KubeObject>({ kind, reference }: Interest<T>): Looked<T> => {
    try {
      return { objects: cache.referred(kind, reference) };
    } catch (error) {
      if (!(error instanceof UnreadableError || error instanceof NotCachedError)) throw error;
      const { cause } = error;
      return {
        unreadable: cause instanceof Error ? cause.message : "it has not been received from the API server",
      };
    }
  };
  return {
    look,
    read(interest) {
      const looked = look(interest);
      return "objects" in looked ? looked.objects : undefined;
    },
  };
}
