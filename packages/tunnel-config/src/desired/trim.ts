/** Ends of texts, in linear time. */

/** The text without the characters at its end that are dropped. */
export function trimEndOf(text: string, dropped: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && dropped(text[end - 1] ?? "")) end -= 1;
  return text.slice(0, end);
}

/** The text without the characters at both ends that are dropped. */
export function trimOf(text: string, dropped: (character: string) => boolean): string {
  const kept = trimEndOf(text, dropped);
  let begin = 0;
  while (begin < kept.length && dropped(kept[begin] ?? "")) begin += 1;
  return kept.slice(begin);
}
