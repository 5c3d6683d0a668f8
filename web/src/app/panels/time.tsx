/** The time slider: shows the spreadsheet as it was, and what differs from now. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { positionText } from "../../data/position";
import { readDetails } from "../../stack/details";
import { describeDiff, marksOfEarlierState } from "../../stack/diff-marks";
import { readDiffToNow } from "../../stack/history";
import { loadRows, type RowsPage } from "./history-rows";
import { useLoaded, useRunning, useSettled, useStatus } from "./hooks";
import { ActionProblem, Done, LoadState, OfflineNote, PanelFrame } from "./parts";
import { PositionActions } from "./position-actions";
import type { PanelProps } from "./props";
import { positionOf, useShownAt } from "./shown-state";
import { TimeBar } from "./time-bar";
import type { TimelineEntry } from "./timeline";
import { dateTimeText } from "../times";
import { useMarks } from "./use-marks";

const PAGE_ENTRIES = 200;
/** The state follows the slider when it rests. */
const SETTLE_MS = 200;
const MAX_DIFF_CELLS = 5_000;

export default function TimePanel(props: PanelProps) {
  const { stack, spreadsheet, source, close, setSource } = props;
  const [page, setPage] = useState<RowsPage | null>(null);
  const [chosen, setChosen] = useChosen(setSource);
  const [done, setDone] = useState<string[]>([]);
  const { isOnline } = useStatus(source);
  const newest = useLoaded(
    async (signal) => {
      if (page === null) setPage(await loadRows(stack, spreadsheet, { limit: PAGE_ENTRIES, signal }));
    },
    [stack, spreadsheet, page === null],
  );
  const older = useRunning();
  const role = useLoaded((signal) => readDetails(stack, spreadsheet, signal), [stack, spreadsheet]).value?.role;
  const entries = useMemo<TimelineEntry[]>(() => [...(page?.rows ?? [])].reverse(), [page]);
  const found = entries.findIndex((entry) => entry.position === chosen);
  const index = found < 0 ? entries.length - 1 : found;
  const choose = (next: number) => setChosen(next === entries.length - 1 ? null : (entries[next]?.position ?? null));
  const loadOlder = () =>
    older.run(async () => {
      if (page?.next === undefined) return;
      const next = await loadRows(stack, spreadsheet, { until: page.next, limit: PAGE_ENTRIES });
      setPage({ ...next, rows: page.rows.concat(next.rows) });
    });
  const backToNow = () => {
    setChosen(null);
    setPage(null);
  };
  const entry = entries[index];
  return (
    <PanelFrame title="Time" close={close}>
      <OfflineNote isOnline={isOnline} />
      <LoadState isLoading={newest.isLoading && page === null} error={newest.error} retry={newest.reload} />
      <Done>{done.map((text) => <p key={text}>{text}</p>)}</Done>
      {entry === undefined ? null : (
        <>
          <TimeBar entries={entries} index={index} choose={choose} />
          <p><strong>{chosen === null ? "Now" : dateTimeText(entry.createdS)}</strong> <span class="panel-small">{positionText(entry.position)}</span></p>
          <p>{entry.author}: {entry.text}</p>
          <div class="panel-actions">
            <button type="button" disabled={index === 0} onClick={() => choose(index - 1)}>Earlier</button>
            <button type="button" disabled={index === entries.length - 1} onClick={() => choose(index + 1)}>Later</button>
            <button type="button" class="primary" disabled={chosen === null} onClick={backToNow}>Back to now</button>
            {page?.next === undefined ? null : <button type="button" disabled={older.isRunning} onClick={loadOlder}>{older.isRunning ? "Loading…" : "Add older entries"}</button>}
          </div>
          <ActionProblem error={older.error} />
          {chosen === null ? null : (
            <EarlierState {...props} position={chosen} canEdit={role === "editor" || role === "owner"} onReversed={(sentences) => {
              setDone(sentences);
              backToNow();
            }} />
          )}
        </>
      )}
    </PanelFrame>
  );
}

/** The position of the chosen entry, or null for now. The shown state follows when the slider rests. */
function useChosen(setSource: (at: string | null) => void): [number | null, (chosen: number | null) => void] {
  const at = useShownAt();
  const [chosen, setChosen] = useState<number | null>(positionOf(at));
  const asked = useRef(at);
  const settled = useSettled(chosen, SETTLE_MS);
  const sent = useRef(settled);
  useEffect(() => {
    if (sent.current === settled) return;
    sent.current = settled;
    asked.current = settled === null ? null : positionText(settled);
    setSource(asked.current);
  }, [settled]);
  // Something else has chosen another state, such as the button "back" of the browser.
  useEffect(() => {
    if (at === asked.current) return;
    asked.current = at;
    setChosen(positionOf(at));
  }, [at]);
  return [chosen, setChosen];
}

interface EarlierStateProps extends PanelProps {
  position: number;
  canEdit: boolean;
  onReversed: (sentences: string[]) => void;
}

function EarlierState({ position, canEdit, onReversed, ...props }: EarlierStateProps) {
  const { stack, spreadsheet } = props;
  const settled = useSettled(position, SETTLE_MS);
  const { value, error, isLoading, reload } = useLoaded(
    (signal) => readDiffToNow(stack, spreadsheet, settled, MAX_DIFF_CELLS, signal),
    [stack, spreadsheet, settled],
  );
  const marks = useMemo(() => (value === null || value.from !== settled ? [] : marksOfEarlierState(value)), [value, settled]);
  useMarks(props, positionText(settled), marks);
  return (
    <section class="panel-note" aria-label="Differences from now">
      <LoadState isLoading={isLoading} error={error} retry={reload} />
      {value === null ? null : <p>Changed since then: {describeDiff(value)}. What differs is highlighted.</p>}
      <PositionActions {...props} position={position} canEdit={canEdit} onReversed={onReversed} />
    </section>
  );
}
