/** Finds keys that a JSON text gives twice: `JSON.parse` keeps the last and says nothing. */

interface Frame {
  path: string;
  keys: Set<string> | undefined;
  index: number;
  key: string;
}

const STRING = /"(?:[^"\\]|\\.)*"/y;

function pathOf(frame: Frame | undefined): string {
  if (frame === undefined) return "";
  if (frame.keys === undefined) return `${frame.path}[${frame.index}]`;
  return frame.path === "" ? frame.key : `${frame.path}.${frame.key}`;
}

/** Paths of duplicate keys of a valid JSON text, in order. */
export function duplicateKeys(json: string): string[] {
  const found: string[] = [];
  const stack: Frame[] = [];
  let expectKey = false;
  for (let i = 0; i < json.length; i += 1) {
    const frame = stack.at(-1);
    switch (json.charCodeAt(i)) {
      case 0x7b: // {
        stack.push({ path: pathOf(frame), keys: new Set(), index: 0, key: "" });
        expectKey = true;
        break;
      case 0x5b: // [
        stack.push({ path: pathOf(frame), keys: undefined, index: 0, key: "" });
        expectKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        stack.pop();
        expectKey = false;
        break;
      case 0x2c: // ,
        if (frame?.keys === undefined) {
          if (frame !== undefined) frame.index += 1;
        } else expectKey = true;
        break;
      case 0x22: {
        // "
        STRING.lastIndex = i;
        const token = STRING.exec(json)?.[0] ?? '""';
        if (expectKey && frame?.keys !== undefined) {
          frame.key = token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);
          if (frame.keys.has(frame.key)) found.push(pathOf(frame));
          frame.keys.add(frame.key);
          expectKey = false;
        }
        i += token.length - 1;
        break;
      }
    }
  }
  return found;
}
