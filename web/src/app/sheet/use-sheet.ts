/** Opens a spreadsheet for a screen, and closes it with the screen. */

import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { AbortedError } from "../../data/api-error";
import { openSheet, type OpenedSheet } from "../../data/index";
import type { SheetStatus } from "../../data/types";
import { IN_MEMORY_ONLY } from "../../data/undo";
import { readDetails, type Spreadsheet } from "../../stack/details";
import type { SheetRoute } from "../routes";
import type { StackAccess } from "../stack-access";

/** The source of the grid. Null until the first attempt to load it has ended. */
export function useSource({ stack, fetch }: StackAccess, { id, at }: SheetRoute, attempt: number): OpenedSheet | null {
  const [source, setSource] = useState<OpenedSheet | null>(null);
  useLayoutEffect(() => {
    let isClosed = false;
    let opened: OpenedSheet | null = null;
    const options = { url: stack.url, spreadsheet: id, getToken: stack.getToken, fetch, ...(at === undefined ? {} : { at }) };
    void openSheet(options).then((next) => {
      if (isClosed) return next.close();
      opened = next;
      setSource(next);
    });
    return () => {
      isClosed = true;
      setSource(null);
      opened?.close();
    };
  }, [stack, id, at, attempt]);
  return source;
}

export interface DetailsState {
  details: Spreadsheet | null;
  error: unknown;
  replace: (details: Spreadsheet) => void;
}

export function useDetails({ stack }: StackAccess, id: string, attempt: number): DetailsState {
  const [state, setState] = useState<{ details: Spreadsheet | null; error: unknown }>({ details: null, error: null });
  useLayoutEffect(() => {
    const abort = new AbortController();
    readDetails(stack, id, abort.signal).then(
      (details) => setState({ details, error: null }),
      (error: unknown) => {
        if (!(error instanceof AbortedError)) setState((before) => ({ ...before, error }));
      },
    );
    return () => abort.abort();
  }, [stack, id, attempt]);
  const replace = useCallback((details: Spreadsheet) => setState({ details, error: null }), []);
  return { ...state, replace };
}

/** The status of a source, also as time passes while edits wait. */
export function useStatus(source: OpenedSheet): SheetStatus {
  const [status, setStatus] = useState(source.status);
  useEffect(() => {
    const update = () => setStatus(source.status);
    update();
    const unsubscribe = source.subscribe(({ kind }) => {
      if (kind === "status") update();
    });
    const timer = setInterval(() => {
      if (source.status.pending > 0) update();
    }, 1_000);
    return () => {
      unsubscribe();
      clearInterval(timer);
    };
  }, [source]);
  return status;
}

/** Warns before the tab is closed if edits would be lost, because they are in memory only. */
export function useUnsavedWarning(source: OpenedSheet): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (source.status.pending > 0 && isMemoryOnly(source)) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [source]);
}

function isMemoryOnly(source: OpenedSheet): boolean {
  return source.status.problem === IN_MEMORY_ONLY;
}
