/** The grid element with its source. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import type { OpenedSheet } from "../../data/index";
import type { CellarGrid } from "../../grid/index";
import "../../grid/index";
import type { SheetRoute } from "../routes";
import type { StackAccess } from "../stack-access";
import { markAuthors } from "./author-marks";
import { answerFindEvents } from "./find";

interface GridProps {
  route: SheetRoute;
  source: OpenedSheet | null;
  access: StackAccess;
  grid: RefObject<CellarGrid | null>;
  onProblem: (text: string) => void;
}

export function Grid({ route, source, access, grid, onProblem }: GridProps) {
  useLayoutEffect(() => {
    if (grid.current === null) return;
    grid.current.source = source;
    return () => {
      if (grid.current !== null) grid.current.source = null;
    };
  }, [source]);
  // Before the first frame, which would ask for other cells.
  useLayoutEffect(() => {
    if (source !== null && grid.current !== null) goToRoute(source, grid.current, route);
  }, [source, route.sheet, route.cell]);
  useEffect(() => {
    if (source === null || grid.current === null) return;
    const endFind = answerFindEvents({ stack: access.stack, id: route.id, at: route.at, source, grid: grid.current, onProblem });
    const endMarks = markAuthors(source, grid.current);
    return () => {
      endFind();
      endMarks();
    };
  }, [source, access.stack, route.id, route.at, onProblem]);
  return (
    <main class="grid-area" aria-label="Cells">
      <cellar-grid ref={grid} no-sync-status />
    </main>
  );
}

/** Selects the sheet and the cell that the address names. */
function goToRoute(source: OpenedSheet, grid: CellarGrid, { sheet, cell }: SheetRoute): void {
  const named = source.sheets.find((info) => info.name === sheet);
  if (named !== undefined && named.sheet !== source.sheet) source.selectSheet(named.sheet);
  if (cell !== undefined) grid.goTo(cell);
  // Keys work at once, unless the user is already in another field.
  if (document.activeElement === document.body) grid.focus();
}
