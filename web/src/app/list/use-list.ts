/** The spreadsheets of a status, again after each change of the search. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { AbortedError } from "../../data/api-error";
import { BROWSER_HINTS } from "../../data/live";
import type { Spreadsheet, SpreadsheetStatus } from "../../stack/details";
import { listSpreadsheets } from "../../stack/list";
import type { StackAccess } from "../stack-access";
import { withChanges, type Changes } from "./changes";

const SEARCH_DELAY_MS = 250;
/** The list is eventually consistent: what was just created or changed may not be in it yet. */
const SECOND_READ_MS = 3_000;

export interface ListState {
  spreadsheets: Spreadsheet[] | null;
  isTruncated: boolean;
  problem: unknown;
}

export interface UsedList {
  state: ListState;
  /** Shows a change before the list has it. */
  replace: (spreadsheet: Spreadsheet) => void;
  reload: () => void;
}

export function useList({ stack }: StackAccess, status: SpreadsheetStatus, search: string): UsedList {
  const [state, setState] = useState<ListState>({ spreadsheets: null, isTruncated: false, problem: null });
  const [attempt, setAttempt] = useState(0);
  const changes = useRef<Changes>(new Map());
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  useEffect(() => {
    const abort = new AbortController();
    const query = search.trim() === "" ? { status } : { status, name: search.trim() };
    const load = async () => {
      try {
        const { spreadsheets, next } = await listSpreadsheets(stack, { ...query, signal: abort.signal });
        const shown = withChanges(spreadsheets, changes.current, search, Date.now());
        setState({ spreadsheets: shown, isTruncated: next !== undefined, problem: null });
      } catch (problem) {
        if (!(problem instanceof AbortedError)) setState((before) => ({ ...before, problem }));
      }
    };
    const timer = setTimeout(() => void load(), search === "" ? 0 : SEARCH_DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [stack, status, search, attempt]);
  useEffect(() => {
    const timer = setTimeout(reload, SECOND_READ_MS);
    const endHints = BROWSER_HINTS.start(reload);
    return () => {
      clearTimeout(timer);
      endHints();
    };
  }, [reload]);
  const replace = useCallback((changed: Spreadsheet) => {
    changes.current.set(changed.id, { spreadsheet: changed, changedMs: Date.now() });
    setState((before) => ({
      ...before,
      spreadsheets: before.spreadsheets?.map((one) => (one.id === changed.id ? { ...one, ...changed } : one)) ?? null,
    }));
    setTimeout(reload, SECOND_READ_MS);
  }, [reload]);
  return { state, replace, reload };
}
