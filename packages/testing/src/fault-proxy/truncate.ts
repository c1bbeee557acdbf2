/** Cuts a stream of lines in the middle of a line. */
const NEWLINE = 0x0a;

export interface LineCutter {
  /** Bytes of the chunk that may pass, and whether the stream ends after them. */
  cut(chunk: Buffer): { pass: Buffer; done: boolean };
}

/** Lets `lines` complete lines pass and then half of what comes of the next one, at least one byte of it. */
export function lineCutter(lines: number): LineCutter {
  let left = lines;
  return {
    cut(chunk) {
      let position = 0;
      while (left > 0) {
        const newline = chunk.indexOf(NEWLINE, position);
        if (newline < 0) return { pass: chunk, done: false };
        left--;
        position = newline + 1;
      }
      if (position >= chunk.length) return { pass: chunk, done: false };
      const newline = chunk.indexOf(NEWLINE, position);
      const end = newline < 0 ? chunk.length : newline;
      const half = Math.max(1, Math.floor((end - position) / 2));
      return { pass: chunk.subarray(0, position + half), done: true };
    },
  };
}
