/** State that survives while the page replaces the source and mounts a panel again. */

import { useCallback, useState } from "preact/hooks";

const remembered = new Map<string, unknown>();

export function useRemembered<T>(key: string, initial: T): [T, (value: T) => void] {
  // Only this hook writes the value of a key, and each key has one type.
  const [value, setValue] = useState<T>(remembered.has(key) ? (remembered.get(key) as T) : initial);
  const set = useCallback(
    (next: T) => {
      remembered.set(key, next);
      setValue(next);
    },
    [key],
  );
  return [value, set];
}

/** Forgets all state whose key starts with `prefix`, such as when a panel is closed. */
export function forget(prefix: string): void {
  for (const key of [...remembered.keys()]) if (key.startsWith(prefix)) remembered.delete(key);
}
