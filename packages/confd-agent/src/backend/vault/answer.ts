/** Answers of Vault, which are secrets as a whole. */
import { BackendError } from "../../errors.ts";

/** What an answer holds; the words for one that is no JSON have none of its own. */
export function answerOf<T extends object>(text: string): T {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new BackendError("vault: the answer is no JSON");
  }
  if (typeof answer !== "object" || answer === null) throw new BackendError("vault: the answer is no object");
  return answer as T;
}
