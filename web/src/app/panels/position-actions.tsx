/** What can be done with a position: undo its entry, revert to it, fork from it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { positionText } from "../../data/position";
import { describeReversal } from "../../stack/describe";
import { describeDiff } from "../../stack/diff-marks";
import { createFork } from "../../stack/forks";
import { readDiffToNow } from "../../stack/history";
import { revertTo, undoEntry, type ReversalOutcome } from "../../stack/reversals";
import { withPlainQuotes } from "../../stack/plain-text";
import type { Forked } from "../../stack/types";
import { formatRoute } from "../routes";
import { useLoaded, useRunning, type Running } from "./hooks";
import { sentence } from "./message";
import { ActionProblem, ConfirmButton, LoadState } from "./parts";
import type { PanelProps } from "./props";

/** A preview counts at most about so many cells. */
const MAX_PREVIEW_CELLS = 20_000;

interface PositionActionsProps extends Pick<PanelProps, "stack" | "spreadsheet" | "source"> {
  position: number;
  canEdit: boolean;
  /** Present if the entry can be undone here: what it did, or why it cannot be undone now. */
  undo?: { text: string; whyNot?: string };
  /** Gets what was done, in sentences. */
  onReversed: (sentences: string[]) => void;
}

export function PositionActions(props: PositionActionsProps) {
  const { stack, spreadsheet, position, canEdit, undo, onReversed } = props;
  const [isReverting, setReverting] = useState(false);
  const action = useRunning();
  useEffect(() => {
    setReverting(false);
    action.reset();
  }, [position]);
  const at = positionText(position);
  const reverse = (send: () => Promise<ReversalOutcome>, verb: string) =>
    action.run(async () => {
      const outcome = await send();
      setReverting(false);
      onReversed(sentencesOf(outcome, verb));
      props.source.refresh();
    });
  return (
    <div>
      <div class="panel-actions">
        {canEdit && undo !== undefined ? (
          <ConfirmButton
            key={position}
            label="Undo this…"
            question={`Take back ${at} (${undo.text})? What was changed since stays. The undo can be undone.`}
            action="Undo"
            isDangerous={false}
            isDisabled={action.isRunning || undo.whyNot !== undefined}
            confirm={() => reverse(() => undoEntry(stack, spreadsheet, position), `Undid ${at}`)}
          />
        ) : null}
        {canEdit ? (
          <button type="button" disabled={action.isRunning} aria-expanded={isReverting} onClick={() => setReverting(!isReverting)}>
            Revert to here…
          </button>
        ) : null}
        <Fork key={position} {...{ stack, spreadsheet, position, action }} />
      </div>
      {undo?.whyNot === undefined ? null : <p class="panel-small">{undo.whyNot}</p>}
      {action.isRunning ? <p class="panel-muted" role="status">Working…</p> : null}
      <ActionProblem error={action.error} />
      {isReverting ? (
        <RevertPreview {...{ stack, spreadsheet, position }} isRunning={action.isRunning} close={() => setReverting(false)} confirm={() => reverse(() => revertTo(stack, spreadsheet, position), `Reverted to ${at}`)} />
      ) : null}
    </div>
  );
}

function sentencesOf(outcome: ReversalOutcome, verb: string): string[] {
  if (outcome.kind === "nothing") return [`Nothing was changed. ${sentence(withPlainQuotes(outcome.why))}`];
  const { position, reversal } = outcome;
  const as = position === undefined ? "" : ` as ${positionText(position)}`;
  const details = reversal === undefined ? [] : describeReversal(reversal);
  return [`${verb}${as}.`, ...details, "Undo it in the history, if it was not meant."];
}

interface RevertPreviewProps extends Pick<PanelProps, "stack" | "spreadsheet"> {
  position: number;
  isRunning: boolean;
  confirm: () => void;
  close: () => void;
}

function RevertPreview({ stack, spreadsheet, position, isRunning, confirm, close }: RevertPreviewProps) {
  const { value, error, isLoading, reload } = useLoaded(
    (signal) => readDiffToNow(stack, spreadsheet, position, MAX_PREVIEW_CELLS, signal),
    [stack, spreadsheet, position],
  );
  const cancel = useRef<HTMLButtonElement>(null);
  const text = value === null ? null : describeDiff(value);
  return (
    <section class="panel-note" aria-label="Preview of the revert">
      <LoadState isLoading={isLoading} error={error} retry={reload} />
      {text === null ? null : text === "nothing" ? <p>Nothing has changed since {positionText(position)}.</p> : (
        <>
          <p>The revert takes back all changes since {positionText(position)}, by all authors: {text}.</p>
          <p class="panel-small">It is stored as a new entry, so that it can be undone.</p>
          <div class="panel-actions">
            <button ref={cancel} type="button" onClick={close}>Cancel</button>
            <button type="button" class="danger" disabled={isRunning} onClick={confirm}>Revert</button>
          </div>
        </>
      )}
    </section>
  );
}

interface ForkProps extends Pick<PanelProps, "stack" | "spreadsheet"> {
  position: number;
  action: Running;
}

function Fork({ stack, spreadsheet, position, action }: ForkProps) {
  const [fork, setFork] = useState<Forked | null>(null);
  const link = useRef<HTMLAnchorElement>(null);
  // A repeated attempt with the same nonce creates no second fork.
  const nonce = useRef(crypto.randomUUID());
  useEffect(() => link.current?.focus(), [fork]);
  if (fork !== null) {
    return <a ref={link} href={formatRoute({ kind: "sheet", id: fork.id })}>Open the fork</a>;
  }
  const create = () =>
    action.run(async () => setFork(await createFork(stack, spreadsheet, { at: position }, nonce.current)));
  return (
    <ConfirmButton label="Fork from here" question={`Create a spreadsheet with the state at ${positionText(position)}?`} action="Fork" isDangerous={false} isDisabled={action.isRunning} confirm={create} />
  );
}
