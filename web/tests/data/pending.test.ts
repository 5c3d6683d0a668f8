import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeEntry, decodeOperation } from "../../src/data/decode-operation";
import { KnownSheets } from "../../src/data/known-sheets";
import { addEdit, applyEntry, NO_PENDING, predict, type PendingEdits } from "../../src/data/pending";
import type { Entry, Mutation, Operation } from "../../src/data/wire";
import { SeededRandom } from "./random";

/** Rows as ids. Edits name ids, so their targets need no transform: this is the oracle. */
type Rows = readonly string[];

const ROWS = 60;
/** Edits touch only the first rows, so that a row below always remains. */
const EDITED = 8;

function applyToRows(rows: Rows, operation: Operation, newId: (index: number) => string): Rows {
  if (operation.kind === "insertRows") {
    const ids = Array.from({ length: operation.count }, (_, index) => newId(index));
    return [...rows.slice(0, operation.before), ...ids, ...rows.slice(operation.before)];
  }
  if (operation.kind === "deleteRows") {
    const isDeleted = (row: number) =>
      operation.spans.some(({ first, count }) => row >= first && row < first + count);
    return rows.filter((_, row) => !isDeleted(row));
  }
  return rows;
}

function randomOperation(random: SeededRandom): Operation {
  const [sheet, first] = [0, random.below(EDITED)];
  const kind = random.below(5);
  if (kind < 2) return { kind: "insertRows", sheet, before: first, count: 1 + random.below(2) };
  if (kind < 4) return { kind: "deleteRows", sheet, spans: [{ first, count: 1 + random.below(3) }] };
  return { kind: "setCells", sheet, cells: [{ row: first, column: 0, value: first }] };
}

/** What an edit means in ids: what it names, or the rows before which it inserts. */
interface Intent {
  operation: Operation;
  named: Rows;
}

function intentOf(operation: Operation, shown: Rows): Intent {
  if (operation.kind === "insertRows") return { operation, named: shown.slice(operation.before) };
  if (operation.kind === "deleteRows") {
    const named = operation.spans.flatMap(({ first, count }) => shown.slice(first, first + count));
    return { operation, named };
  }
  const rows = operation.kind === "setCells" ? operation.cells.map(({ row }) => shown[row] ?? "") : [];
  return { operation, named: rows };
}

/** Returns the operation that the server commits on `rows`, by ids alone. */
function committedByIds({ operation, named }: Intent, rows: Rows): Operation[] {
  const found = named.map((id) => rows.indexOf(id)).filter((row) => row >= 0);
  const [first] = found;
  if (first === undefined) return [];
  if (operation.kind === "insertRows") return [{ ...operation, before: first }];
  const sorted = [...found].sort((left, right) => left - right);
  if (operation.kind === "setCells") {
    return [{ ...operation, cells: operation.cells.map((edit) => ({ ...edit, row: first })) }];
  }
  if (operation.kind !== "deleteRows") return [];
  const spans: { first: number; count: number }[] = [];
  for (const row of sorted) {
    const last = spans[spans.length - 1];
    if (last !== undefined && last.first + last.count === row) last.count += 1;
    else spans.push({ first: row, count: 1 });
  }
  return [{ ...operation, spans }];
}

/** A server, and one client that reads its entries late and whose edits arrive late. */
class Scene {
  server: Rows = Array.from({ length: ROWS }, (_, row) => `r${row}`);
  known: Rows = this.server;
  position = 0;
  knownPosition = 0;
  unread: { entry: Entry; isOwn: boolean; id: string }[] = [];
  pending: PendingEdits = NO_PENDING;
  unsent: { id: number; base: number; intent: Intent }[] = [];
  nextId = 1;

  constructor(readonly random: SeededRandom) {}

  shown(): Rows {
    return predict(this.pending).reduce(
      (rows, { id, operations }) =>
        operations.reduce((moved, operation) => applyToRows(moved, operation, (index) => `own${id}.${index}`), rows),
      this.known,
    );
  }

  commit(mutation: Mutation, isOwn: boolean, id: string) {
    this.position += 1;
    const [operation] = mutation.committed ?? [];
    if (operation !== undefined) this.server = applyToRows(this.server, operation, (index) => `${id}.${index}`);
    const entry: Entry = { position: this.position, kind: "edits", mutations: [mutation], isExternal: false };
    this.unread.push({ entry, isOwn, id });
  }

  step() {
    const kind = this.random.below(4);
    if (kind === 0) this.commitForeign();
    if (kind === 1) this.edit();
    if (kind === 2) this.read();
    if (kind === 3) this.deliver();
  }

  commitForeign() {
    const op = randomOperation(this.random);
    this.commit({ id: 1, base: this.position, op, committed: [op] }, false, `foreign${this.position}`);
  }

  edit() {
    const op = randomOperation(this.random);
    const [id, base] = [this.nextId, this.knownPosition];
    this.nextId += 1;
    this.unsent.push({ id, base, intent: intentOf(op, this.shown()) });
    this.pending = addEdit(this.pending, { id, base, op });
  }

  read() {
    const next = this.unread.shift();
    if (next === undefined) return;
    this.pending = applyEntry(this.pending, next.entry, next.isOwn);
    const [operation] = next.entry.mutations[0]?.committed ?? [];
    if (operation !== undefined) {
      this.known = applyToRows(this.known, operation, (index) => `${next.id}.${index}`);
    }
    this.knownPosition = next.entry.position;
  }

  deliver() {
    const next = this.unsent.shift();
    if (next === undefined) return;
    const committed = committedByIds(next.intent, this.server);
    // If nothing else is unread, the client must have predicted exactly this.
    if (this.unread.length === 0) expect(predict(this.pending)[0]?.operations).toEqual(committed);
    const op = next.intent.operation;
    this.commit({ id: next.id, base: next.base, op, committed }, true, `own${next.id}`);
  }
}

describe("pending edits", () => {
  it("are shown where the server puts them", () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const scene = new Scene(new SeededRandom(seed));
      for (let step = 0; step < 30; step += 1) scene.step();
      while (scene.unread.length > 0) scene.read();
      const shown = scene.shown();
      while (scene.unsent.length > 0) scene.deliver();
      expect(shown, `seed ${seed}`).toEqual(scene.server);
      while (scene.unread.length > 0) scene.read();
      expect(scene.shown(), `seed ${seed}`).toEqual(scene.server);
      expect(scene.pending, `seed ${seed}`).toEqual(NO_PENDING);
    }
  }, 60_000);

  it("of an undo are not predicted", () => {
    const pending = addEdit(NO_PENDING, { id: 1, base: 0, op: { kind: "undo", position: 4 } });
    expect(predict(pending)).toEqual([{ id: 1, operations: [] }]);
  });
});

/**
 * Cases that the server's own code generates, one per line:
 * {"entries": [EntryView…], "own": ["client key"…], "sheets": {"live": [0…], "used": [0…]},
 *  "pending": [{"id", "base", "op"}…], "expected": [[Operation…] or {"rejected": "reason"}…]}
 * `entries` are all entries with mutations, `sheets` the numbers of sheets after them, and `expected`
 * what the server commits for each pending edit. `core/api/src/rebase/tests/cases.rs` writes them:
 *
 *     CELLAR_REBASE_CASES=PATH cargo test -p cellar-api --lib rebase::tests::cases -- --ignored
 *
 * This test reads the full file from the same path; `cases/rebase.jsonl` is a sample.
 * References of formulas are left out: this client shows them as typed until they are committed.
 */
const CASES = process.env.CELLAR_REBASE_CASES ?? new URL("./cases/rebase.jsonl", import.meta.url);

interface Case {
  entries: unknown[];
  own: string[];
  sheets: { live: number[]; used: number[] };
  pending: { id: number; base: number; op: unknown }[];
  expected: (unknown[] | { rejected: string })[];
}

/** The page does not show edits that it cannot make, such as a number format of a range. */
function shownOperations(expected: unknown[] | { rejected: string }): Operation[] {
  if (!Array.isArray(expected)) return [];
  return expected.map(decodeOperation).filter(({ kind }) => kind !== "other");
}

function predictionsOf({ entries, own, sheets, pending: given }: Case): (readonly Operation[])[] {
  const decoded = entries.map(decodeEntry).map((entry) => ({ entry, isOwn: own.includes(entry.clientKey ?? "") }));
  const sent = decoded.flatMap(({ entry, isOwn }) => (isOwn ? entry.mutations : []));
  // What is in the log was pending before.
  const edits = [...sent, ...given.map((edit) => ({ ...edit, op: decodeOperation(edit.op) }))];
  let pending: PendingEdits = { edits, changes: [] };
  for (const { entry, isOwn } of decoded) pending = applyEntry(pending, entry, isOwn);
  const known = new KnownSheets(sheets.live, (sheet) => sheets.used.includes(sheet));
  return predict(pending, known).map(({ operations }) => operations);
}

describe("cases of the server", () => {
  it("give the same operations", () => {
    const lines = readFileSync(CASES, "utf8").split("\n").filter((text) => text !== "");
    const kinds = new Map<string, number>();
    lines.forEach((line, index) => {
      const found = JSON.parse(line) as Case;
      const predicted = predictionsOf(found);
      const expected = found.expected.map(shownOperations);
      expect(predicted, `case ${index}: ${line}`).toEqual(expected);
      for (const { kind } of expected.flat()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    });
    expect(lines.length).toBeGreaterThanOrEqual(200);
    const seen = ["setCells", "clearRange", "insertRows", "insertColumns", "deleteRows", "deleteColumns", "addSheet"];
    for (const kind of [...seen, "renameSheet", "deleteSheet", "importSheet"]) expect(kinds.get(kind), kind).toBeGreaterThan(0);
  }, 300_000);
});
