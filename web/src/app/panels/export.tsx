/** Exports the shown sheet as csv or tsv. */

import { useRef, useState } from "preact/hooks";
import { displayName } from "../list/sort";
import { readDetails } from "../../stack/details";
import { count } from "../../stack/csv/errors";
import { exportSheet, type Exported } from "../../stack/export";
import { useRunning, useStatus } from "./hooks";
import { ActionProblem, Done, OfflineNote, PanelFrame } from "./parts";
import type { PanelProps } from "./props";
import { openTarget } from "./save-file";

type Format = "csv" | "tsv";

export default function ExportPanel({ stack, spreadsheet, source, close }: PanelProps) {
  const { isOnline, position, pending } = useStatus(source);
  const action = useRunning();
  const [progress, setProgress] = useState<{ text: string; done: number; total: number } | null>(null);
  const [done, setDone] = useState<Exported | null>(null);
  const end = useRef<AbortController | null>(null);
  const sheet = source.sheets.find((info) => info.sheet === source.sheet);
  const save = (format: Format) =>
    action.run(async () => {
      if (sheet === undefined) return;
      setDone(null);
      const ending = new AbortController();
      end.current = ending;
      try {
        // The file is chosen first, because browsers ask only soon after a click.
        const target = await openTarget(() => fileName(stack, spreadsheet, sheet.name, format), format);
        if (target === null) return;
        const exported = await exportSheet(
          stack,
          spreadsheet,
          {
            sheet: sheet.name,
            delimiter: format === "csv" ? "," : "\t",
            at: position,
            signal: ending.signal,
            progress: ({ step, cells, total = 0 }) =>
              setProgress({ text: `${step === "measuring" ? "Reading" : "Writing"}: ${count(cells, "cell", "cells")}`, done: cells, total }),
          },
          target.write,
        ).catch(async (error: unknown) => {
          await target.abort();
          throw error;
        });
        await target.close();
        setDone(exported);
      } finally {
        setProgress(null);
      }
    });
  return (
    <PanelFrame title="Export" close={() => {
      end.current?.abort();
      close();
    }}>
      <OfflineNote isOnline={isOnline} />
      <p>The sheet <strong>{sheet?.name ?? ""}</strong> as it is at {position}.</p>
      {pending > 0 ? <p class="panel-note">Your {count(pending, "edit that is", "edits that are")} not sent yet will be missing.</p> : null}
      <div class="panel-actions">
        <button type="button" class="primary" disabled={action.isRunning || !isOnline} onClick={() => save("csv")}>Save as csv</button>
        <button type="button" disabled={action.isRunning || !isOnline} onClick={() => save("tsv")}>Save as tsv</button>
        {action.isRunning ? <button type="button" onClick={() => end.current?.abort()}>Cancel</button> : null}
      </div>
      {progress === null ? null : (
        <p>
          <span>{progress.text}</span>
          {progress.total === 0 ? <progress aria-label="Export" /> : <progress aria-label="Export" value={progress.done} max={progress.total} />}
        </p>
      )}
      <ActionProblem error={action.error} />
      <Done>{done === null ? null : <Report exported={done} />}</Done>
      <h3>Other formats</h3>
      <p>For all sheets with their formulas and number formats, use <code>cellar export FILE.xlsx</code>.</p>
    </PanelFrame>
  );
}

function Report({ exported: { rows, columns, cells, staleFormulas, formulaLikeTexts } }: { exported: Exported }) {
  return (
    <>
      <p>Saved {count(cells, "cell", "cells")} in {count(rows, "row", "rows")} and {count(columns, "column", "columns")}.</p>
      {staleFormulas > 0 ? <p class="panel-note">{count(staleFormulas, "formula was", "formulas were")} not calculated: the file has the stored values.</p> : null}
      {formulaLikeTexts > 0 ? <p class="panel-note">{count(formulaLikeTexts, "text starts", "texts start")} with =, +, -, @ or a tab: another program may take them for formulas. <code>cellar export --escape-formulas</code> prevents that.</p> : null}
    </>
  );
}

async function fileName(stack: PanelProps["stack"], id: string, sheet: string, format: Format): Promise<string> {
  const { name } = await readDetails(stack, id);
  const text = `${displayName(name)} - ${sheet}`.replace(/[\\/:*?"<>|\p{Cc}]/gu, "_").slice(0, 100);
  return `${text}.${format}`;
}
