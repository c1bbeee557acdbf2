/** Sum of all series of a metric in a text of the Prometheus format. */
export function sumOf(metric: string, text: string): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
