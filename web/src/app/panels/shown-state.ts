/** The state that the address names, and its position. */

import { useEffect, useState } from "preact/hooks";
import { parseRoute } from "../routes";

const ENTRIES_PER_SEGMENT = 2 ** 32;

function shownAt(): string | null {
  const route = parseRoute(location.hash);
  return route.kind === "sheet" ? (route.at ?? null) : null;
}

/** Returns the position or time of the shown state, or null for now. */
export function useShownAt(): string | null {
  const [at, setAt] = useState(shownAt);
  useEffect(() => {
    const update = () => setAt(shownAt());
    update();
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return at;
}

/** Returns null for now, and for a time. */
export function positionOf(at: string | null): number | null {
  const [, segment, number] = /^(\d+)\.(\d+)$/.exec(at ?? "") ?? [];
  return segment === undefined ? null : Number(segment) * ENTRIES_PER_SEGMENT + Number(number);
}
