/** Hooks that several parts of the page use. */

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { parseRoute, type Route } from "../routes";
import { currentCredentials, subscribeToSession, takeTokenFromAddress, wasUnauthorized, type Credentials } from "../session";

/** Returns the route of the address bar. */
export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  useLayoutEffect(() => {
    const update = () => {
      takeTokenFromAddress();
      setFragment(location.hash);
    };
    addEventListener("hashchange", update);
    addEventListener("popstate", update);
    update();
    return () => {
      removeEventListener("hashchange", update);
      removeEventListener("popstate", update);
    };
  }, []);
  return useMemo(() => parseRoute(fragment), [fragment]);
}

export interface SessionState {
  credentials: Credentials | null;
  isUnauthorized: boolean;
}

export function useSession(): SessionState {
  const read = () => ({ credentials: currentCredentials(), isUnauthorized: wasUnauthorized() });
  const [state, setState] = useState(read);
  useLayoutEffect(() => subscribeToSession(() => setState(read())), []);
  return state;
}

/** Loads a module when it is first rendered. Returns null until then; throws the error of a failed load. */
export function useModule<T>(load: () => Promise<T>): T | null {
  const [loaded, setLoaded] = useState<{ load: () => Promise<T>; module?: T; error?: unknown } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (module) => isCurrent && setLoaded({ load, module }),
      (error: unknown) => isCurrent && setLoaded({ load, error }),
    );
    return () => void (isCurrent = false);
  }, [load]);
  if (loaded === null || loaded.load !== load) return null;
  if (loaded.error !== undefined) throw loaded.error;
  return loaded.module ?? null;
}

/** Runs one action at a time. `problem` is the error of the last one. */
export function useAction(): { isRunning: boolean; problem: unknown; run: (action: () => Promise<void>) => Promise<void>; reset: () => void } {
  const [state, setState] = useState<{ isRunning: boolean; problem: unknown }>({ isRunning: false, problem: null });
  const isRunning = useRef(false);
  const run = useCallback(async (action: () => Promise<void>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setState({ isRunning: true, problem: null });
    try {
      await action();
      setState({ isRunning: false, problem: null });
    } catch (problem) {
      setState({ isRunning: false, problem });
    } finally {
      isRunning.current = false;
    }
  }, []);
  const reset = useCallback(() => setState({ isRunning: false, problem: null }), []);
  return { ...state, run, reset };
}

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Cellar" : `${title} · Cellar`;
  }, [title]);
}
