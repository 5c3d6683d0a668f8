/** Runs at most a few requests at a time, so that a long list does not delay what the user does. */

const MAX_RUNNING = 4;
let running = 0;
const waiting: (() => void)[] = [];

export async function runLimited<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
