/** The forks of a spreadsheet, its source, and the merge of a fork into its source. */

import { useEffect, useRef, useState } from "preact/hooks";
import { positionText } from "../../data/position";
import { readDetails, type Spreadsheet } from "../../stack/details";
import { createFork, listForks, type ForkList } from "../../stack/forks";
import type { StackClient } from "../../stack/http";
import type { Forked, ForkListed } from "../../stack/types";
import { displayName } from "../list/sort";
import { formatRoute } from "../routes";
import { useLoaded, useRunning, useStatus } from "./hooks";
import { MergeSection } from "./merge";
import { ActionProblem, LoadState, OfflineNote, PanelFrame } from "./parts";
import type { PanelProps } from "./props";
import { dateTimeText } from "../times";

interface NamedFork extends ForkListed {
  /** Absent if it cannot be read, such as a deleted fork. */
  details: Spreadsheet | null;
}

interface Family {
  details: Spreadsheet;
  /** The source of this spreadsheet, if it is a fork that may be read. */
  source: Spreadsheet | null;
  forks: NamedFork[];
  isTruncated: boolean;
}

/** Names are read one by one, so the names of older forks are left out. */
const MAX_NAMED_FORKS = 30;

async function readFamily(stack: StackClient, id: string, signal: AbortSignal): Promise<Family> {
  const details = await readDetails(stack, id, signal);
  const [source, list] = await Promise.all([
    details.source === undefined ? null : readDetails(stack, details.source, signal).catch(() => null),
    listForks(stack, id, signal),
  ]);
  return { details, source, forks: await namedForks(stack, list, signal), isTruncated: list.isTruncated };
}

async function namedForks(stack: StackClient, { forks }: ForkList, signal: AbortSignal): Promise<NamedFork[]> {
  const newestFirst = [...forks].reverse();
  const named: NamedFork[] = [];
  for (const [index, fork] of newestFirst.entries()) {
    const details = index < MAX_NAMED_FORKS ? await readDetails(stack, fork.id, signal).catch(() => null) : null;
    named.push({ ...fork, details });
  }
  return named;
}

export default function ForksPanel(props: PanelProps) {
  const { stack, spreadsheet, source, close } = props;
  const { isOnline } = useStatus(source);
  const { value, error, isLoading, reload } = useLoaded(
    (signal) => readFamily(stack, spreadsheet, signal),
    [stack, spreadsheet],
  );
  return (
    <PanelFrame title="Forks" close={close}>
      <OfflineNote isOnline={isOnline} />
      <LoadState isLoading={isLoading && value === null} error={error} retry={reload} />
      {value === null ? null : (
        <>
          {value.details.source === undefined ? null : <SourceSection family={value} stack={stack} />}
          <CreateSection {...props} reload={reload} />
          <ForkSection family={value} stack={stack} refresh={() => source.refresh()} />
        </>
      )}
    </PanelFrame>
  );
}

function SourceSection({ family: { details, source }, stack }: { family: Family; stack: StackClient }) {
  return (
    <section aria-labelledby="fork-source">
      <h3 id="fork-source">Source</h3>
      {source === null ? <p class="panel-muted">This is a fork of a spreadsheet that you cannot read.</p> : (
        <>
          <p>This is a fork of <a href={formatRoute({ kind: "sheet", id: source.id })}>{displayName(source.name)}</a>.</p>
          {canEdit(source) ? <MergeSection stack={stack} fork={details} into={source} /> : <p class="panel-small">An editor of the source can merge this fork into it.</p>}
        </>
      )}
    </section>
  );
}

function canEdit({ role, status }: Spreadsheet): boolean {
  return status === "active" && (role === "editor" || role === "owner");
}

function CreateSection({ stack, spreadsheet, source, reload }: PanelProps & { reload: () => void }) {
  const action = useRunning();
  const [created, setCreated] = useState<Forked | null>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const nonce = useRef(crypto.randomUUID());
  const { position } = useStatus(source);
  useEffect(() => link.current?.focus(), [created]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name") ?? "").trim();
    action.run(async () => {
      const fork = await createFork(stack, spreadsheet, { at: position, name: name === "" ? undefined : name }, nonce.current);
      nonce.current = crypto.randomUUID();
      form.reset();
      setCreated(fork);
      reload();
    });
  };
  // Another name or position is another fork, so that the server does not refuse its nonce.
  useEffect(() => void (nonce.current = crypto.randomUUID()), [position]);
  return (
    <section aria-labelledby="fork-create">
      <h3 id="fork-create">New fork</h3>
      <form class="panel-form" onSubmit={submit} aria-label="Create a fork">
        <label>
          Name, or nothing for “Fork of …”
          <input name="name" maxLength={60} autocomplete="off" onInput={() => (nonce.current = crypto.randomUUID())} />
        </label>
        <p class="panel-small">The fork has the state at {position}. It copies nothing, and its edits do not change this spreadsheet.</p>
        <div class="panel-actions">
          <button type="submit" class="primary" disabled={action.isRunning}>Create a fork</button>
          {created === null ? null : <a ref={link} href={formatRoute({ kind: "sheet", id: created.id })}>Open the new fork</a>}
        </div>
      </form>
      <ActionProblem error={action.error} />
    </section>
  );
}

interface ForkSectionProps {
  family: Family;
  stack: StackClient;
  refresh: () => void;
}

function ForkSection({ family: { details, forks, isTruncated }, stack, refresh }: ForkSectionProps) {
  return (
    <section aria-labelledby="fork-list">
      <h3 id="fork-list">Forks</h3>
      {forks.length === 0 ? <p class="panel-muted">This spreadsheet has no forks that you may see.</p> : null}
      <ul class="panel-list">
        {forks.map((fork) => (
          <li class="panel-row" key={fork.id}>
            <div class="panel-grow">
              <a href={formatRoute({ kind: "sheet", id: fork.id })}>{fork.details === null ? `Fork ${fork.id.slice(0, 8)}` : displayName(fork.details.name)}</a>
              <div class="panel-small">
                {fork.author ?? "unknown"}, {dateTimeText(fork.createdS)}, at {positionText(fork.position)}
                {fork.details !== null && fork.details.status !== "active" ? `, ${fork.details.status}` : ""}
              </div>
              {fork.details !== null && canEdit(details) ? <MergeSection stack={stack} fork={fork.details} into={details} onMerged={refresh} /> : null}
            </div>
          </li>
        ))}
      </ul>
      {isTruncated ? <p class="panel-note">There are more forks. List them with: cellar forks</p> : null}
    </section>
  );
}
