/** Merges a fork into its source: first lists what would happen, then asks, then reports. */

import { useEffect, useRef, useState } from "preact/hooks";
import { positionText } from "../../data/position";
import type { Spreadsheet } from "../../stack/details";
import { cellName } from "../../base/sheet";
import { count } from "../../stack/csv/errors";
import { merge, previewMerge } from "../../stack/forks";
import { readSheets } from "../../stack/history";
import type { StackClient } from "../../stack/http";
import type { MergedEdit, MergeReport } from "../../stack/types";
import { displayName } from "../list/sort";
import { useRunning } from "./hooks";
import { ActionProblem, Done } from "./parts";

interface MergeSectionProps {
  stack: StackClient;
  fork: Spreadsheet;
  into: Spreadsheet;
  onMerged?: () => void;
}

interface Preview {
  report: MergeReport;
  /** Names of the sheets of the source. */
  sheets: Map<number, string>;
}

export function MergeSection({ stack, fork, into, onMerged }: MergeSectionProps) {
  const action = useRunning();
  const [preview, setPreview] = useState<Preview | null>(null);
  const [result, setResult] = useState<MergeReport | null>(null);
  const [remaining, setRemaining] = useState<number | null>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const start = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), [preview]);
  const name = displayName(into.name);
  const look = () =>
    action.run(async () => {
      setResult(null);
      const [report, { sheets }] = await Promise.all([previewMerge(stack, into.id, fork.id), readSheets(stack, into.id)]);
      setPreview({ report, sheets: new Map(sheets.map((sheet) => [sheet.sheet, sheet.name])) });
    });
  const end = () => {
    setPreview(null);
    start.current?.focus();
  };
  const confirm = (through: number) =>
    action.run(async () => {
      const merged = await merge(stack, into.id, { fork: fork.id, through }, setRemaining);
      setRemaining(null);
      setResult(merged);
      end();
      onMerged?.();
    });
  return (
    <div>
      <div class="panel-actions">
        <button ref={start} type="button" disabled={action.isRunning || preview !== null} onClick={look} aria-label={`Merge into ${name}… (${displayName(fork.name)})`}>Merge into {name}…</button>
      </div>
      {action.isRunning ? <p class="panel-muted" role="status">{remaining === null ? "Working…" : `Merging: ${count(remaining, "edit remains", "edits remain")}`}</p> : null}
      <ActionProblem error={action.error} />
      {preview === null ? null : (
        <section class="panel-note" aria-label="Preview of the merge">
          <p>{summary(preview.report, "Would merge", name)}</p>
          <Edits {...preview} />
          <div class="panel-actions">
            <button ref={cancel} type="button" onClick={end}>{total(preview.report) === 0 ? "Close" : "Cancel"}</button>
            {total(preview.report) === 0 ? null : <button type="button" class="primary" disabled={action.isRunning} onClick={() => confirm(preview.report.through)}>Merge</button>}
          </div>
        </section>
      )}
      <Done>{result === null ? null : <Result report={result} name={name} />}</Done>
    </div>
  );
}

function total({ counts }: MergeReport): number {
  return counts.unchanged + counts.moved + counts.dropped + counts.rejected;
}

function summary(report: MergeReport, verb: string, name: string): string {
  const edits = total(report);
  if (edits === 0) return `Nothing to merge: ${name} already has all edits up to ${positionText(report.through)}.`;
  const { unchanged, moved, dropped, rejected, inConflict } = report.counts;
  const parts = `${unchanged} as they were made, ${moved} moved, ${dropped} dropped, ${rejected} rejected`;
  const conflict = inConflict === 0 ? "" : ` ${inConflict} in conflict: both sides changed the same cells, and the fork wins.`;
  return `${verb} ${count(edits, "edit", "edits")} into ${name}: ${parts}.${conflict}`;
}

function Result({ report, name }: { report: MergeReport; name: string }) {
  return (
    <>
      <p>{summary(report, "Merged", name)}</p>
      {report.mergedAs === undefined ? null : <p>To undo the whole merge, undo {positionText(report.mergedAs)} in the history of {name}.</p>}
    </>
  );
}

const MAX_LISTED = 100;

function Edits({ report, sheets }: Preview) {
  const { edits } = report;
  if (edits.length === 0) return null;
  return (
    <>
      <table class="panel-table">
        <caption class="panel-small">Edits that are not merged as they were made</caption>
        <thead>
          <tr><th scope="col">Edit</th><th scope="col">Author</th><th scope="col">What happens</th></tr>
        </thead>
        <tbody>
          {edits.slice(0, MAX_LISTED).map((edit) => (
            <tr key={edit.position}>
              <td>{positionText(edit.position)}</td>
              <td>{edit.author ?? "unknown"}</td>
              <td>{outcomeText(edit, sheets)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {edits.length > MAX_LISTED ? <p class="panel-small">And {count(edits.length - MAX_LISTED, "more edit", "more edits")}.</p> : null}
    </>
  );
}

export function outcomeText(edit: MergedEdit, sheets: ReadonlyMap<number, string>): string {
  if (edit.outcome === "dropped") return "Dropped: its cells were deleted.";
  if (edit.outcome === "rejected") return `Rejected: ${edit.rejection ?? "it can never have an effect"}`;
  const moved = edit.outcome === "moved" ? "Moved, because its cells moved or were partly deleted. " : "";
  if (edit.conflictCount === 0) return moved.trim();
  const cells = edit.conflicts.map(({ sheet, row, column }) => {
    const name = sheets.get(sheet);
    return `${name === undefined ? "" : `${name}!`}${cellName(row, column)}`;
  });
  const more = edit.conflictCount - cells.length;
  const listed = cells.join(", ") + (more > 0 ? ` and ${count(more, "more cell", "more cells")}` : "");
  return `${moved}In conflict: others changed ${listed}; the fork wins.`;
}
