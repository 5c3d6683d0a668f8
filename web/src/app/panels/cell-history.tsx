/** Who changed the selected cells, when, and how. Follows the selection. */

import { useEffect, useState } from "preact/hooks";
import { rangeText } from "../../data/api";
import { positionText } from "../../data/position";
import { cellName } from "../../base/sheet";
import { columnList, describeChange, rowList } from "../../stack/describe";
import { readCellHistory } from "../../stack/history";
import type { CellHistoryEntry, Recovery } from "../../stack/types";
import { useLoaded, useRunning, useSettled, useStatus } from "./hooks";
import { ActionProblem, LoadState, OfflineNote, PanelFrame } from "./parts";
import type { PanelProps } from "./props";
import { dateTimeText } from "../times";

const SETTLE_MS = 250;
const PAGE_ENTRIES = 50;
/** A page may be empty although older changes exist. */
const MAX_EMPTY_PAGES = 5;

export default function CellHistoryPanel({ stack, spreadsheet, source, grid, close }: PanelProps) {
  const selected = useSettled(useSelectedRange(grid, source), SETTLE_MS);
  const { isOnline, position, pending } = useStatus(source);
  const until = useSettled(position, SETTLE_MS);
  const [sheet, range] = JSON.parse(selected) as [string, string];
  const load = (cursor: string | undefined, signal?: AbortSignal) =>
    readChanges({ stack, spreadsheet, sheet, range, until, cursor, signal });
  const { value, error, isLoading, reload, setValue } = useLoaded((signal) => load(undefined, signal), [stack, spreadsheet, selected, until]);
  const older = useRunning();
  const loadOlder = () =>
    older.run(async () => {
      if (value === null) return;
      const next = await load(value.next);
      setValue({ ...next, changes: value.changes.concat(next.changes), isTruncated: value.isTruncated || next.isTruncated });
    });
  const showsCells = range.includes(":");
  return (
    <PanelFrame title="History of cells" close={close}>
      <OfflineNote isOnline={isOnline} />
      <p role="status"><strong>{sheet}!{range}</strong></p>
      {pending > 0 ? <p class="panel-small">Edits that are not sent yet are not listed.</p> : null}
      <LoadState isLoading={isLoading} error={error} retry={reload} />
      {value === null ? null : (
        <>
          {value.changes.length === 0 && value.next === undefined ? <p class="panel-muted">Nobody has changed {showsCells ? "these cells" : "this cell"}.</p> : <Changes changes={value.changes} />}
          {value.isTruncated ? <p class="panel-note">Some changes of large edits are not shown. Select fewer cells to see them.</p> : null}
          {value.next === undefined ? null : <button type="button" disabled={older.isRunning} onClick={loadOlder}>Older changes</button>}
          <ActionProblem error={older.error} />
        </>
      )}
    </PanelFrame>
  );
}

/** Returns the name of the sheet and the current range as JSON, so that equal selections are equal. */
function useSelectedRange(grid: PanelProps["grid"], source: PanelProps["source"]): string {
  const read = () => {
    const range = grid.selection.ranges.at(-1);
    const sheet = source.sheets.find((info) => info.sheet === source.sheet)?.name ?? "";
    if (range === undefined) return JSON.stringify([sheet, "A1"]);
    const isCell = range.rowCount === 1 && range.columnCount === 1;
    return JSON.stringify([sheet, isCell ? cellName(range.firstRow, range.firstColumn) : rangeText(range)]);
  };
  const [selected, setSelected] = useState(read);
  useEffect(() => {
    const update = () => setSelected(read());
    update();
    grid.addEventListener("cellar-selection", update);
    const unsubscribe = source.subscribe((change) => {
      if (change.kind !== "cells") update();
    });
    return () => {
      grid.removeEventListener("cellar-selection", update);
      unsubscribe();
    };
  }, [grid, source]);
  return selected;
}

interface ChangesQuery extends Pick<PanelProps, "stack" | "spreadsheet"> {
  sheet: string;
  range: string;
  until: string;
  cursor: string | undefined;
  signal: AbortSignal | undefined;
}

interface ChangesPage {
  changes: CellHistoryEntry[];
  next?: string;
  isTruncated: boolean;
}

async function readChanges({ stack, spreadsheet, ...query }: ChangesQuery): Promise<ChangesPage> {
  let page: ChangesPage = { changes: [], isTruncated: false };
  let { cursor } = query;
  for (let count = 0; count < MAX_EMPTY_PAGES; count += 1) {
    const next = await readCellHistory(stack, spreadsheet, { ...query, limit: PAGE_ENTRIES, cursor });
    page = { ...next, isTruncated: page.isTruncated || next.isTruncated };
    if (page.changes.length > 0 || page.next === undefined) break;
    cursor = page.next;
  }
  return page;
}

function Changes({ changes }: { changes: readonly CellHistoryEntry[] }) {
  return (
    <ul class="panel-list">
      {changes.map((entry, index) => (
        <li class="panel-row" key={`${entry.position} ${index}`}>
          <div class="panel-grow">
            <Change entry={entry} />
            <div class="panel-small">
              {entry.author ?? "unknown"}, {dateTimeText(entry.createdS)} · {positionText(entry.position)}
              {entry.merged === undefined ? "" : ` · merged by ${entry.merged.by ?? "unknown"} from a fork`}
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}

function describeRecovery({ by, position }: Recovery): string {
  return by === "undo" ? `undo of ${positionText(position)}` : `revert to ${positionText(position)}`;
}

function Change({ entry: { change, recovered } }: { entry: CellHistoryEntry }) {
  switch (change.kind) {
    case "cell": {
      const { row, column, before, after } = change.diff;
      const [earlier, later] = describeChange(before, after);
      return (
        <div>
          {cellName(row, column)}: <del class="panel-old">{earlier}</del> → <ins class="panel-new">{later}</ins>
        </div>
      );
    }
    case "rowsInserted":
      return <div>Inserted {rowList(change.spans)}</div>;
    case "rowsDeleted":
      return <div>Deleted {rowList(change.spans)}</div>;
    case "columnsInserted":
      return <div>Inserted {columnList(change.spans)}</div>;
    case "columnsDeleted":
      return <div>Deleted {columnList(change.spans)}</div>;
    case "sheetAdded":
      return <div>{recovered === undefined ? "Added the sheet" : `Recovered the sheet (${describeRecovery(recovered)})`}</div>;
    case "sheetImported":
      return <div>Imported the sheet</div>;
  }
}
