/** Opens a spreadsheet for a screen, and closes it with the screen. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AbortedError, isTransient } from "../../data/api-error";
import { openSheet, type OpenedSheet } from "../../data/index";
import type { SheetStatus } from "../../data/types";
import { readDetails, type Spreadsheet } from "../../stack/details";
import type { SheetRoute } from "../routes";
import type { StackAccess } from "../stack-access";
import { useSession } from "../ui/hooks";
import { SheetSwitch } from "./sheet-switch";

/** Shows the newest state or, if the route asks for one, an earlier state. Null until one has been loaded. */
export function useSource(access: StackAccess, route: SheetRoute, attempt: number, readOnlyReason: string | null): OpenedSheet | null {
  const newest = useNewest(access, route.id, attempt, readOnlyReason);
  const earlier = useEarlier(access, route);
  const [sheets, setSheets] = useState<SheetSwitch | null>(null);
  const shown = route.at === undefined ? newest : earlier;
  useLayoutEffect(() => {
    // Until an earlier state is there, the previous one is shown.
    if (shown === null) return;
    if (sheets === null) setSheets(new SheetSwitch(shown));
    else sheets.show(shown);
  }, [shown, sheets]);
  useLayoutEffect(() => {
    if (sheets !== null) sheets.readOnlyReason = readOnlyReason;
  }, [sheets, readOnlyReason]);
  useEffect(() => () => sheets?.close(), [sheets]);
  return sheets?.source ?? null;
}

/** The newest state stays open while an earlier one is shown, so that waiting edits are sent. */
function useNewest({ stack, fetch }: StackAccess, id: string, attempt: number, readOnlyReason: string | null): OpenedSheet | null {
  const [opened, setOpened] = useState<OpenedSheet | null>(null);
  useOpening(() => openSheet({ url: stack.url, spreadsheet: id, getToken: stack.getToken, fetch }), [stack, id], setOpened);
  useEffect(() => () => opened?.close(), [opened]);
  const { credentials } = useSession();
  const now = [attempt, credentials, readOnlyReason];
  const last = useRef(now);
  // Waiting edits are sent at once after a new sign-in, and a spreadsheet can be edited at once when it is unarchived.
  useEffect(() => {
    if (now.some((value, index) => value !== last.current[index])) opened?.refresh();
    last.current = now;
  }, [opened, ...now]);
  return opened;
}

function useEarlier({ stack, fetch }: StackAccess, { id, at }: SheetRoute): OpenedSheet | null {
  const [opened, setOpened] = useState<OpenedSheet | null>(null);
  const open = () =>
    at === undefined
      ? Promise.resolve(null)
      : openSheet({ url: stack.url, spreadsheet: id, getToken: stack.getToken, fetch, at });
  useOpening(open, [stack, id, at], setOpened);
  useEffect(() => () => opened?.close(), [opened]);
  return opened;
}

function useOpening<T extends OpenedSheet | null>(open: () => Promise<T>, dependencies: unknown[], setOpened: (opened: T) => void): void {
  useLayoutEffect(() => {
    let isCurrent = true;
    void open().then((opened) => {
      if (isCurrent) setOpened(opened);
      else opened?.close();
    });
    return () => void (isCurrent = false);
  }, dependencies);
}

const DETAILS_RETRY_MS = 5_000;

export interface DetailsState {
  details: Spreadsheet | null;
  error: unknown;
  replace: (details: Spreadsheet) => void;
}

export function useDetails({ stack }: StackAccess, id: string, attempt: number): DetailsState {
  const { credentials: person } = useSession();
  const [state, setState] = useState<{ details: Spreadsheet | null; error: unknown }>({ details: null, error: null });
  useLayoutEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      readDetails(stack, id, abort.signal).then(
        (details) => setState({ details, error: null }),
        (error: unknown) => {
          if (error instanceof AbortedError) return;
          setState((before) => ({ ...before, error }));
          if (isTransient(error)) timer = setTimeout(read, DETAILS_RETRY_MS);
        },
      );
    };
    read();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [stack, id, attempt, person]);
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
      const { pending, isMemoryOnly } = source.status;
      if (pending > 0 && isMemoryOnly === true) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [source]);
}
