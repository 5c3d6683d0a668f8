/** Hooks of the panels. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { AbortedError } from "../../data/api-error";
import type { SheetSource, SheetStatus } from "../../data/types";

export interface Loaded<T> {
  value: T | null;
  /** Error of the last attempt, or null. */
  error: unknown;
  isLoading: boolean;
  reload: () => void;
  setValue: (value: T) => void;
}

/** Loads a value when a dependency changes. Keeps the earlier value until the new one is there. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Pick<Loaded<T>, "value" | "error" | "isLoading">>({
    value: null,
    error: null,
    isLoading: true,
  });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    setState((earlier) => ({ ...earlier, isLoading: true }));
    load(end.signal).then(
      (value) => {
        if (!end.signal.aborted) setState({ value, error: null, isLoading: false });
      },
      (error: unknown) => {
        if (end.signal.aborted || error instanceof AbortedError) return;
        setState((earlier) => ({ ...earlier, error, isLoading: false }));
      },
    );
    return () => end.abort();
  }, [...dependencies, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  const setValue = useCallback((value: T) => setState({ value, error: null, isLoading: false }), []);
  return { ...state, reload, setValue };
}

export interface Running {
  isRunning: boolean;
  error: unknown;
  /** Runs one action at a time. */
  run: (action: () => Promise<void>) => void;
  reset: () => void;
}

export function useRunning(): Running {
  const [state, setState] = useState<Pick<Running, "isRunning" | "error">>({ isRunning: false, error: null });
  const isBusy = useRef(false);
  const run = useCallback((action: () => Promise<void>) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ isRunning: true, error: null });
    action()
      .then(
        () => setState({ isRunning: false, error: null }),
        (error: unknown) => setState({ isRunning: false, error: error instanceof AbortedError ? null : error }),
      )
      .finally(() => (isBusy.current = false));
  }, []);
  const reset = useCallback(() => setState({ isRunning: false, error: null }), []);
  return { ...state, run, reset };
}

/** Returns the status of the source, now and after each change. */
export function useStatus(source: SheetSource): SheetStatus {
  const [status, setStatus] = useState(source.status);
  useEffect(() => {
    setStatus(source.status);
    return source.subscribe((change) => {
      if (change.kind === "status") setStatus(source.status);
    });
  }, [source]);
  return status;
}

/** Returns the value after it has stayed the same for some time. */
export function useSettled<T>(value: T, waitMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs);
    return () => clearTimeout(timer);
  }, [value, waitMs]);
  return settled;
}
