/** Whether an object already has what is wanted of it. */
import { isMap } from "../desired/document.ts";

/** Whether everything wanted stands in what is there; what a server fills in does not count. */
export function holds(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(actual) &&
      actual.length === wanted.length &&
      wanted.every((item, index) => holds(actual[index], item))
    );
  }
  if (!isMap(wanted)) return actual === wanted;
  return isMap(actual) && Object.entries(wanted).every(([key, value]) => holds(actual[key], value));
}
