/** Bytes of foreign servers' answers that are held at once: one server cannot take the memory of the process. */

/** What one answer, or one connection, has taken of a {@link ByteBudget}. */
export interface ByteAccount {
  /** Takes bytes that have arrived; false when they are too many, and nothing more may be read. */
  take(bytes: number): boolean;
  /** Gives everything back. */
  close(): void;
}

export interface ByteBudget {
  open(): ByteAccount;
}

export interface ByteLimits {
  /** Bytes of one account. */
  readonly each: number;
  /** Bytes of all accounts together. */
  readonly total: number;
  /** Bytes that an account may take even when the others have taken everything: honest servers answer with less. */
  readonly assured: number;
}

export function createByteBudget({ each, total, assured }: ByteLimits): ByteBudget {
  let used = 0;
  return {
    open() {
      let own = 0;
      return {
        take(bytes) {
          own += bytes;
          used += bytes;
          return own <= each && (own <= assured || used <= total);
        },
        close() {
          used -= own;
          own = 0;
        },
      };
    },
  };
}
