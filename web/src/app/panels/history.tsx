/** The history: who did what, and the sheet as it was. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { colorOfPerson } from "../../base/person-color";
import { positionText } from "../../data/position";
import { readDetails } from "../../stack/details";
import { marksOfLaterState, describeDiff } from "../../stack/diff-marks";
import { readDiff } from "../../stack/history";
import { groupRows, loadRows, withNewer, type HistoryRow, type RowGroup, type RowsPage } from "./history-rows";
import { useLoaded, useRunning, useSettled, useStatus } from "./hooks";
import { ActionProblem, Done, LoadState, OfflineNote, PanelFrame } from "./parts";
import { PositionActions } from "./position-actions";
import type { PanelProps } from "./props";
import { positionOf, useShownAt } from "./shown-state";
import { dayText, timeText } from "../times";
import { useMarks } from "./use-marks";

const PAGE_ENTRIES = 50;
const MAX_DIFF_CELLS = 5_000;
const GROWTH_SETTLE_MS = 500;

export default function HistoryPanel(props: PanelProps) {
  const { stack, spreadsheet, source, close, setSource } = props;
  const [page, setPage] = useState<RowsPage | null>(null);
  const at = useShownAt();
  const selected = positionOf(at);
  const [done, setDone] = useState<string[]>([]);
  const { isOnline } = useStatus(source);
  const newest = useNewest(props, page, setPage, at);
  const older = useRunning();
  const role = useLoaded((signal) => readDetails(stack, spreadsheet, signal), [stack, spreadsheet]).value?.role;
  const groups = useMemo(() => groupRows(page?.rows ?? []), [page]);
  const select = (position: number | null) => {
    setDone([]);
    setSource(position === null ? null : positionText(position));
  };
  const loadOlder = useCallback(() => {
    const until = page?.next;
    if (page === null || until === undefined) return;
    older.run(async () => {
      const next = await loadRows(stack, spreadsheet, { until, limit: PAGE_ENTRIES });
      setPage({ ...next, rows: page.rows.concat(next.rows) });
    });
  }, [page, stack, spreadsheet]);
  const handleReversed = (sentences: string[]) => {
    setSource(null);
    setDone(sentences);
    newest.reload();
  };
  return (
    <PanelFrame title="History" close={close}>
      <OfflineNote isOnline={isOnline} />
      {at === null ? null : (
        <p class="panel-note">
          You see the spreadsheet at {at}. <button type="button" onClick={() => select(null)}>Back to now</button>
        </p>
      )}
      <Done>{done.map((text) => <p key={text}>{text}</p>)}</Done>
      <LoadState isLoading={newest.isLoading && page === null} error={newest.error} retry={newest.reload} />
      {groups.map((group) => (
        <Group key={group.rows[0]?.position} group={group} selected={selected} select={select}>
          {(row) => <EntryDetails {...props} row={row} canEdit={role === "editor" || role === "owner"} onReversed={handleReversed} />}
        </Group>
      ))}
      {page?.next === undefined ? null : <OlderButton isRunning={older.isRunning} hasFailed={older.error !== null} load={loadOlder} />}
      <ActionProblem error={older.error} />
    </PanelFrame>
  );
}

/** Loads the newest entries, and again when the spreadsheet grows. */
function useNewest({ stack, spreadsheet, source }: PanelProps, page: RowsPage | null, setPage: (page: RowsPage) => void, at: string | null) {
  const { position } = useStatus(source);
  // An earlier state does not grow.
  const newest = useRef(position);
  if (at === null) newest.current = position;
  const grown = useSettled(newest.current, GROWTH_SETTLE_MS);
  const known = useRef(page);
  known.current = page;
  return useLoaded(
    async (signal) => {
      const loaded = await loadRows(stack, spreadsheet, { limit: PAGE_ENTRIES, signal });
      const rows = known.current === null ? null : withNewer(known.current.rows, loaded);
      setPage(rows === null ? loaded : { ...known.current, rows });
      return null;
    },
    [stack, spreadsheet, grown],
  );
}

interface GroupProps {
  group: RowGroup;
  selected: number | null;
  select: (position: number | null) => void;
  children: (row: HistoryRow) => preact.ComponentChildren;
}

function Group({ group, selected, select, children }: GroupProps) {
  const [first] = group.rows;
  if (first === undefined) return null;
  return (
    <section aria-label={`${dayText(first.createdS)}, ${group.author}`}>
      <h3>{group.author} <span class="panel-small">{dayText(first.createdS)}</span></h3>
      <ul class="panel-list">
        {group.rows.map((row) => {
          const isSelected = row.position === selected;
          return (
            <li key={row.position}>
              <button type="button" class="panel-entry" aria-pressed={isSelected} onClick={() => select(isSelected ? null : row.position)}>
                {row.text}
                <span class="panel-small"> {timeText(row.createdS)} · {positionText(row.position)}{row.mergedText === undefined ? "" : ` · ${row.mergedText}`}</span>
              </button>
              {isSelected ? children(row) : null}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface EntryDetailsProps extends PanelProps {
  row: HistoryRow;
  canEdit: boolean;
  onReversed: (sentences: string[]) => void;
}

function EntryDetails({ row, canEdit, onReversed, ...props }: EntryDetailsProps) {
  const { stack, spreadsheet } = props;
  const { position } = row;
  const isCreation = position === 0;
  const { value, error, isLoading, reload } = useLoaded(
    async (signal) => {
      if (isCreation) return null;
      return readDiff(stack, spreadsheet, { from: position - 1, to: position, signal }, MAX_DIFF_CELLS);
    },
    [stack, spreadsheet, position],
  );
  const color = colorOfPerson(row.author);
  const marks = useMemo(() => (value === null ? [] : marksOfLaterState(value).map((mark) => ({ ...mark, color }))), [value, color]);
  useMarks(props, positionText(position), marks);
  return (
    <div class="panel-note">
      <LoadState isLoading={isLoading} error={error} retry={reload} />
      {value === null ? null : <p>Changed: {describeDiff(value)}.</p>}
      <PositionActions {...props} position={position} canEdit={canEdit} onReversed={onReversed} {...(isCreation ? {} : { undo: { text: row.text, ...(row.whyNotUndoable === undefined ? {} : { whyNot: row.whyNotUndoable }) } })} />
    </div>
  );
}

interface OlderButtonProps {
  isRunning: boolean;
  hasFailed: boolean;
  load: () => void;
}

/** Loads more when it is scrolled into view; keys reach it too. */
function OlderButton({ isRunning, hasFailed, load }: OlderButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (button.current === null) return;
    const observer = new IntersectionObserver((entries) => setVisible(entries.at(-1)?.isIntersecting === true));
    observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (isVisible && !isRunning && !hasFailed) load();
  }, [isVisible, isRunning, hasFailed, load]);
  return <button ref={button} type="button" disabled={isRunning} onClick={load}>{isRunning ? "Loading…" : "Older entries"}</button>;
}
