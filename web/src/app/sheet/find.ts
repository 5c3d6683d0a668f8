/** Answers the find event of the grid with a search on the server, which reads the whole spreadsheet. */

import type { OpenedSheet } from "../../data/index";
import type { CellarGrid } from "../../grid/index";
import { findCells } from "../../stack/cells";
import { AbortedError } from "../../data/api-error";
import type { StackClient } from "../../stack/http";
import { problemLine } from "../problem-text";

/** More found cells are counted, but not shown. */
const MAX_SHOWN = 5_000;

interface Target {
  stack: StackClient;
  id: string;
  at: string | undefined;
  source: OpenedSheet;
  grid: CellarGrid;
  onProblem: (text: string) => void;
}

/** Returns a function that ends the listening and the search. */
export function answerFindEvents(target: Target): () => void {
  let abort = new AbortController();
  const handleFind = (event: Event) => {
    abort.abort();
    abort = new AbortController();
    const { text } = (event as CustomEvent<{ text: string }>).detail;
    // Offline, the grid searches the cells that are loaded.
    if (!target.source.status.isOnline) return;
    event.preventDefault();
    void search(target, text, abort.signal);
  };
  target.grid.addEventListener("cellar-find", handleFind);
  return () => {
    abort.abort();
    target.grid.removeEventListener("cellar-find", handleFind);
  };
}

async function search({ stack, id, at, source, grid, onProblem }: Target, text: string, signal: AbortSignal): Promise<void> {
  const sheet = source.sheets.find((info) => info.sheet === source.sheet)?.name;
  let cells: { sheet: number; row: number; column: number }[] = [];
  let count = 0;
  let staleCount = 0;
  try {
    for await (const page of findCells(stack, id, { text, at, signal, ...(sheet === undefined ? {} : { sheet }) })) {
      cells = cells.concat(page.cells).slice(0, MAX_SHOWN);
      count += page.count;
      staleCount += page.staleCells ?? 0;
      grid.showFound({ cells, count, staleCount, isPartial: page.next !== undefined });
    }
  } catch (error) {
    if (!(error instanceof AbortedError)) onProblem(problemLine(error));
  }
}
