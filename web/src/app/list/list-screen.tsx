/** The list of spreadsheets. */

import { useState } from "preact/hooks";
import { createSpreadsheet } from "../../stack/create";
import { STATUSES, type Spreadsheet, type SpreadsheetStatus } from "../../stack/details";
import { formatRoute } from "../routes";
import { signOut } from "../session";
import type { StackAccess } from "../stack-access";
import { Problem } from "../ui/dialog";
import { useAction, useDocumentTitle } from "../ui/hooks";
import { ImportArea } from "./import-area";
import { ExpiredBar } from "../ui/expired-bar";
import { SpreadsheetRow } from "./row";
import { sortSpreadsheets, type SortOrder } from "./sort";
import { useList, type ListState } from "./use-list";

const STATUS_NAMES: Record<SpreadsheetStatus, string> = { active: "Active", archived: "Archived", deleted: "Deleted" };

export default function ListScreen({ access }: { access: StackAccess }) {
  const [status, setStatus] = useState<SpreadsheetStatus>("active");
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<SortOrder>("newest");
  const { state, replace, reload } = useList(access, status, search);
  const { isRunning, problem, run } = useAction();
  useDocumentTitle("Spreadsheets");
  const create = () => void run(async () => {
    const { id } = await createSpreadsheet(access.stack, "");
    location.hash = `${formatRoute({ kind: "sheet", id })}`;
  });
  return (
    <ImportArea stack={access.stack}>
      {(chooseFile) => (
        <>
          <header class="page-header">
            <h1>Spreadsheets</h1>
            <div class="tools">
              <button type="button" onClick={chooseFile}>Import a file</button>
              <button type="button" class="primary" disabled={isRunning} onClick={create}>New spreadsheet</button>
              <button type="button" class="quiet" onClick={signOut}>Sign out</button>
            </div>
          </header>
          <ExpiredBar />
          <main class="list">
            <Filters {...{ status, setStatus, search, setSearch, order, setOrder }} />
            <Problem error={problem ?? state.problem} />
            {state.problem === null ? null : <button type="button" onClick={reload}>Try again</button>}
            <Rows {...{ access, state, status, search, order, replace, create, chooseFile }} />
          </main>
        </>
      )}
    </ImportArea>
  );
}

interface FiltersProps {
  status: SpreadsheetStatus;
  setStatus: (status: SpreadsheetStatus) => void;
  search: string;
  setSearch: (search: string) => void;
  order: SortOrder;
  setOrder: (order: SortOrder) => void;
}

function Filters({ status, setStatus, search, setSearch, order, setOrder }: FiltersProps) {
  return (
    <div class="filters">
      <input type="search" aria-label="Search in names" placeholder="Search in names" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      <fieldset class="choice">
        <legend class="hidden">Status</legend>
        {STATUSES.map((value) => (
          <label key={value}>
            <input type="radio" name="status" checked={status === value} onChange={() => setStatus(value)} />
            {STATUS_NAMES[value]}
          </label>
        ))}
      </fieldset>
      <label class="order">
        Order
        <select value={order} onChange={(event) => setOrder(event.currentTarget.value as SortOrder)}>
          <option value="newest">Newest first</option>
          <option value="name">By name</option>
        </select>
      </label>
    </div>
  );
}

interface RowsProps {
  access: StackAccess;
  state: ListState;
  status: SpreadsheetStatus;
  search: string;
  order: SortOrder;
  replace: (spreadsheet: Spreadsheet) => void;
  create: () => void;
  chooseFile: () => void;
}

function Rows({ access, state, status, search, order, replace, create, chooseFile }: RowsProps) {
  if (state.spreadsheets === null) return state.problem === null ? <p class="muted loading">Loading…</p> : null;
  const shown = sortSpreadsheets(state.spreadsheets.filter((one) => one.status === status), order);
  if (shown.length === 0) return <Empty {...{ status, search, create, chooseFile }} />;
  const names = new Map(state.spreadsheets.map(({ id, name }) => [id, name]));
  return (
    <>
      <table>
        <thead>
          <tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Created</th><th scope="col">Changed</th><th><span class="hidden">Commands</span></th></tr>
        </thead>
        <tbody>
          {shown.map((one) => <SpreadsheetRow key={one.id} {...{ access, spreadsheet: one, names, replace }} />)}
        </tbody>
      </table>
      {state.isTruncated ? <p class="muted">The list is longer. Search in names to find the others.</p> : null}
    </>
  );
}

function Empty({ status, search, create, chooseFile }: Pick<RowsProps, "status" | "search" | "create" | "chooseFile">) {
  if (search !== "") return <p class="empty">No {STATUS_NAMES[status].toLowerCase()} spreadsheet has “{search}” in its name.</p>;
  if (status === "archived") return <p class="empty">No spreadsheet is archived. An archived spreadsheet is read-only.</p>;
  if (status === "deleted") return <p class="empty">No spreadsheet is deleted. Owners can undelete a spreadsheet for 30 days.</p>;
  return (
    <div class="empty">
      <p>No spreadsheets yet.</p>
      <p class="muted">Drop a csv or tsv file here, or start with an empty spreadsheet.</p>
      <div class="actions">
        <button type="button" class="primary" onClick={create}>New spreadsheet</button>
        <button type="button" onClick={chooseFile}>Import a file</button>
      </div>
    </div>
  );
}
