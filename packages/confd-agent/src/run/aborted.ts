/** Resolves when the signal aborts; it is not listened to any more once the second one has aborted. */
export const aborted = (signal: AbortSignal, over?: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), {
      once: true,
      ...(over === undefined ? {} : { signal: over }),
    });
  });
