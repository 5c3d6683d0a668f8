/** Every tab holds a lock, by which others know that it lives. */

export function lockName(client: string): string {
  return `cellar-client-${client}`;
}

/** Holds the lock of a client if its tab is gone. Resolves to a function that releases it, or to null. */
export function takeClientLock(locks: LockManager, client: string): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    const hold = (lock: Lock | null) => (lock === null ? resolve(null) : new Promise<void>((release) => resolve(release)));
    locks.request(lockName(client), { ifAvailable: true }, hold).catch(() => resolve(null));
  });
}

/** Holds the lock of a client until the returned function is called or the tab ends. */
export function holdClientLock(locks: LockManager | undefined, client: string): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  void locks?.request(lockName(client), () => released).catch(() => undefined);
  return () => release();
}
