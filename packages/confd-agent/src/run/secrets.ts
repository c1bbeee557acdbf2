/** Which texts of the files are secrets, and how they are hidden in what programs print. All are byte strings. */

/** Texts shorter than this are no secrets: without them nothing could be read any more. */
const SHORTEST = 4;
/** A run of this length is hidden wherever it stands in a secret: programs quote parts of lines. */
const RUN = 8;
/** With more secrets than this, in bytes, nothing of what programs print is shown. */
const MOST = 16 * 1024 * 1024;
const HIDDEN = "<hidden>";
/** Bits of a hash that the filter of runs has. */
const FILTER_BITS = 20;
/** Spreads a hash over its upper bits. */
const SPREAD = 0x9e3779b1;

export interface SecretTexts {
  /** The secret texts of a file as it was rendered last. Those before may still be in the file, and are kept once. */
  set(dest: string, texts: readonly string[]): void;
  /** The text with whatever is secret in any file replaced. */
  hide(text: string): string;
}

export function createSecretTexts(): SecretTexts {
  const known = new Map<string, { readonly now: readonly string[]; readonly before: readonly string[] }>();
  return {
    set: (dest, now) => {
      const last = known.get(dest)?.now ?? [];
      if (now.length === 0 && last.length === 0) known.delete(dest);
      else if (!isSame(now, last)) known.set(dest, { now, before: last });
    },
    hide: (text) =>
      hideSecrets(
        text,
        [...known.values()].flatMap(({ now, before }) => [...now, ...before]),
      ),
  };
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, index) => text === b[index]);

/** The secret values of a file, and what its template made of them: printed texts that are no plain values. */
export function secretTextsOf(
  values: ReadonlyMap<string, string>,
  isSecret: (key: string) => boolean,
  printed: ReadonlySet<string>,
): readonly string[] {
  const secret = [...values].filter(([key]) => isSecret(key)).map(([, value]) => value);
  const plain = new Set([...values].filter(([key]) => !isSecret(key)).map(([, value]) => value));
  return [...new Set([...secret, ...[...printed].filter((text) => !plain.has(text))])].filter(
    (text) => text.length >= SHORTEST,
  );
}

/** Takes time in proportion to the text and the secrets. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text;
  if (secrets.reduce((sum, { length }) => sum + length, 0) > MOST) return HIDDEN;
  const hidden = new Uint8Array(text.length);
  markRuns(text, secrets, hidden);
  const short = new Set(secrets.filter(({ length }) => length < RUN));
  for (let length = SHORTEST; length < RUN; length++) {
    for (let at = 0; at + length <= text.length; at++)
      if (short.has(text.slice(at, at + length))) hidden.fill(1, at, at + length);
  }
  let shown = "";
  for (let at = 0; at < text.length; ) {
    const from = at;
    while (at < text.length && hidden[at] === hidden[from]) at += 1;
    shown += hidden[from] === 1 ? HIDDEN : text.slice(from, at);
  }
  return shown;
}

/** Marks each run of the text that stands in a secret. */
function markRuns(text: string, secrets: readonly string[], hidden: Uint8Array): void {
  const places = new Map<string, number[]>();
  const filter = new Uint8Array(1 << FILTER_BITS);
  eachRun(text, (at, hash) => {
    const run = text.slice(at, at + RUN);
    const known = places.get(run);
    if (known === undefined) places.set(run, [at]);
    else known.push(at);
    filter[hash] = 1;
  });
  for (const secret of secrets) {
    eachRun(secret, (at, hash) => {
      if (filter[hash] === 0) return;
      const run = secret.slice(at, at + RUN);
      for (const place of places.get(run) ?? []) hidden.fill(1, place, place + RUN);
      // Found once is enough, however often secrets have it.
      places.delete(run);
    });
  }
}

/** Calls back with the place and the hash of each run. Four bits a byte: after eight bytes the first is out of the hash. */
function eachRun(text: string, call: (at: number, hash: number) => void): void {
  let bits = 0;
  for (let end = 0; end < text.length; end++) {
    bits = ((bits << 4) + text.charCodeAt(end)) | 0;
    const at = end + 1 - RUN;
    if (at >= 0) call(at, Math.imul(bits, SPREAD) >>> (32 - FILTER_BITS));
  }
}
