import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProblemError } from "../../src/data/api-error";
import { MalformedReply } from "../../src/data/decode";
import { filterCells, findCells } from "../../src/stack/cells";
import { createSpreadsheet } from "../../src/stack/create";
import { describeCounts, describeReversal } from "../../src/stack/describe";
import { describeDiff, earlierIndex, marksOfEarlierState, marksOfLaterState } from "../../src/stack/diff-marks";
import { createFork, listForks, merge, previewMerge } from "../../src/stack/forks";
import { readCellHistory, readDiffToNow, readHistory } from "../../src/stack/history";
import { createStackClient, type StackClient } from "../../src/stack/http";
import { revertTo, undoEntry } from "../../src/stack/reversals";
import { createLink, linkAddress, newSecret, readSharing, revokeLink, share, unshare } from "../../src/stack/sharing";
import { archive, deleteSpreadsheet, rename, unarchive, undelete } from "../../src/stack/status";
import { loadRows } from "../../src/app/panels/history-rows";
import { parseRoute } from "../../src/app/routes";
import { HAS_STACK, startStack, type Stack } from "../stack";

describe.skipIf(!HAS_STACK)("operations", () => {
  let local: Stack;
  let stack: StackClient;
  beforeAll(async () => {
    local = await startStack();
    stack = createStackClient({ url: local.url, getToken: () => local.token });
  }, 60_000);
  afterAll(async () => local.stop());

  const run = (id: string, ...args: string[]) => local.cellar(...args, "-s", id);

  async function withEdits(): Promise<string> {
    const { id } = await createSpreadsheet(stack, "edits");
    await run(id, "set", "A1", "1");
    await run(id, "set", "B2", "two");
    await run(id, "set", "A1", "3");
    return id;
  }

  test("members are shared with, change their role and lose access", async () => {
    const { id } = await createSpreadsheet(stack, "members");
    expect((await readSharing(stack, id)).role).toBe("owner");
    const shared = await share(stack, id, { subject: "bob" }, "viewer");
    const bob = shared.members?.find((member) => member.person.subject === "bob");
    expect(bob?.role).toBe("viewer");
    expect((await share(stack, id, { subject: "bob" }, "editor")).members?.find((member) => member.person.subject === "bob")?.role).toBe("editor");
    if (bob === undefined) throw new Error("bob is missing");
    expect((await unshare(stack, id, bob.person)).members?.some((member) => member.person.subject === "bob")).toBe(false);
    const error: unknown = await share(stack, id, { subject: "" }, "viewer").catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).status).toBe(422);
  });

  test("a link is created once, opens the spreadsheet and is revoked", async () => {
    const id = await withEdits();
    const secret = newSecret();
    const expiresS = Math.floor(Date.now() / 1_000) + 3_600;
    const link = await createLink(stack, id, { role: "viewer", label: "press", expiresS }, secret);
    expect(await createLink(stack, id, { role: "viewer", label: "press", expiresS }, secret)).toEqual(link);
    expect((await readSharing(stack, id)).links).toEqual([{ id: link.id, label: "press", role: "viewer", expiresS }]);
    const address = linkAddress(stack.url, id, link.token);
    expect(parseRoute(new URL(address).hash)).toEqual({ kind: "sheet", id, link: secret });
    const visitor = createStackClient({ url: local.url, getToken: () => link.token });
    expect((await readSharing(visitor, id)).members).toBeUndefined();
    expect((await readHistory(visitor, id)).entries.length).toBeGreaterThan(2);
    expect((await revokeLink(stack, id, link.id)).links).toEqual([]);
  });

  test("a spreadsheet is renamed, archived and deleted, and back", async () => {
    const { id } = await createSpreadsheet(stack, "old");
    expect((await rename(stack, id, "new")).name).toBe("new");
    expect((await archive(stack, id)).status).toBe("archived");
    expect((await unarchive(stack, id)).status).toBe("active");
    expect((await deleteSpreadsheet(stack, id)).status).toBe("deleted");
    expect((await undelete(stack, id)).status).toBe("active");
  });

  test("entries are described as by `cellar history`", async () => {
    const id = await withEdits();
    for (const command of [
      ["set", "A1", '=B2&"x"'], ["set", "C1", "a", "C2", "b", "C3", "c"], ["set", "A5", "1", "C9", "2"], ["clear", "B2"],
      ["rows", "insert", "2", "-n", "3"], ["rows", "delete", "2"], ["columns", "insert", "B"], ["columns", "delete", "C:D"],
      ["format", "A1:B9", "0.00"], ["format", "C:C", "0%"], ["format", "3:4", "0"], ["sheets", "add", "Costs"],
      ["set", "Costs!B2", "2026-01-31"], ["set", "Costs!B3", "12.50"], ["set", "Costs!A1", "x".repeat(60)], ["clear", "Costs!B2"],
      ["rows", "insert", "Costs!1"], ["sheets", "rename", "Costs", "Prices"], ["names", "set", "TAX", "=0.19"], ["names", "delete", "TAX"],
      ["revert", "0.5", "--sheet", "Sheet1"], ["sheets", "delete", "Prices"], ["undo"], ["revert", "0.2"], ["undo", "0.3"],
    ]) {
      // A command that does not fit the state is left out.
      await run(id, ...command).catch(() => "");
    }
    const printed = JSON.parse(await run(id, "history", "--limit", "100", "--json")) as { entries: unknown[] };
    const lines = (await run(id, "history", "--limit", "100")).trimEnd().split("\n");
    const { rows } = await loadRows(stack, id, { limit: 100 });
    expect(printed.entries.length).toBeGreaterThan(24);
    const described = lines.map((line) => line.trim().split(/ {3,}/).slice(3).join("   "));
    expect(described.join()).toContain("added sheet `Costs`");
    // The page has names in plain quotes.
    expect(rows.map((row) => row.text)).toEqual(described.map((text) => text.replace(/`([^`]*)`/g, '"$1"')));
  }, 60_000);

  test("the history is read in pages", async () => {
    const id = await withEdits();
    const first = await loadRows(stack, id, { limit: 2 });
    expect(first.rows.map((row) => row.text)).toEqual(["A1 = 3", 'B2 = "two"']);
    const rest = await loadRows(stack, id, { limit: 10, until: first.next });
    expect(rest.rows.map((row) => row.text)).toEqual(["A1 = 1", "created"]);
    expect(rest.next).toBeUndefined();
  });

  test("an undo and a revert say what they did, and what there is not to do", async () => {
    const id = await withEdits();
    const undone = await undoEntry(stack, id, 3);
    expect(undone).toMatchObject({ kind: "done", position: 4 });
    expect(undone.kind === "done" && undone.reversal !== undefined && describeReversal(undone.reversal)).toEqual(["Took back: 1 cell."]);
    expect(await undoEntry(stack, id, 3)).toMatchObject({ kind: "nothing" });
    const reverted = await revertTo(stack, id, 0);
    expect(reverted.kind === "done" && reverted.reversal !== undefined && describeCounts(reverted.reversal.restored)).toBe("2 cells");
    expect(await revertTo(stack, id, 0)).toMatchObject({ kind: "nothing" });
    const sheets = await readHistory(stack, id, { limit: 1 });
    expect(sheets.entries[0]?.position).toBe(5);
  });

  test("a repeated reversal changes nothing twice", async () => {
    const id = await withEdits();
    let isLost = false;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (isLost || init?.method !== "POST") return response;
      isLost = true;
      throw new TypeError("the reply is lost");
    };
    const faulty = createStackClient({ url: local.url, getToken: () => local.token, fetch: losing });
    expect(await revertTo(faulty, id, 1)).toMatchObject({ kind: "done" });
    expect((await readHistory(stack, id)).entries[0]?.position).toBe(4);
  });

  test("differences become marks of either state", async () => {
    const id = await withEdits();
    await run(id, "rows", "insert", "1", "-n", "2");
    await run(id, "set", "C9", "new");
    const diff = await readDiffToNow(stack, id, 1, 1_000);
    expect(diff).toMatchObject({ from: 1, to: 5, isTruncated: false });
    expect(describeDiff(diff)).toMatch(/^3 cells, \d inserted rows?$/);
    const places = (marks: ReturnType<typeof marksOfLaterState>) => marks.map(({ firstRow, firstColumn }) => [firstRow, firstColumn]);
    const later = places(marksOfLaterState(diff));
    const inserted = diff.sheets[0]?.rows.inserted[0]?.count ?? 0;
    expect(places(marksOfEarlierState(diff))).toEqual(later.map(([row = 0, column]) => [row - inserted, column]));
  });

  test("the history of a cell has its old and new values", async () => {
    const id = await withEdits();
    const { changes } = await readCellHistory(stack, id, { range: "A1" });
    expect(changes.map(({ change }) => change)).toMatchObject([
      { kind: "cell", diff: { before: { value: 1 }, after: { value: 3 } } },
      { kind: "cell", diff: { before: { value: null }, after: { value: 1 } } },
    ]);
  });

  test("the history of a recovered sheet continues before its deletion", async () => {
    const id = await withEdits();
    await run(id, "sheets", "add", "Other");
    await run(id, "sheets", "delete", "Sheet1");
    await run(id, "undo");
    const { changes } = await readCellHistory(stack, id, { sheet: "Sheet1", range: "A1" });
    expect(changes.map(({ change, recovered }) => recovered ?? change.kind)).toEqual([{ by: "undo", position: 5 }, "cell", "cell"]);
  });

  test("another order of sheets is a difference", async () => {
    const id = await withEdits();
    await run(id, "sheets", "add", "Other");
    await run(id, "sheets", "delete", "Sheet1");
    await run(id, "sheets", "add", "Sheet1");
    const diff = await readDiffToNow(stack, id, 4, 1_000);
    expect(diff.order).toEqual({ before: ["Sheet1", "Other"], after: ["Other", "Sheet1"] });
    expect(describeDiff(diff)).toContain("the order of sheets");
  });

  test("a fork is merged after a preview", async () => {
    const id = await withEdits();
    const nonce = crypto.randomUUID();
    const fork = await createFork(stack, id, { at: "0.2", name: "what if" }, nonce);
    expect(await createFork(stack, id, { at: "0.2", name: "what if" }, nonce)).toEqual(fork);
    expect((await listForks(stack, id)).forks.map((item) => item.id)).toEqual([fork.id]);
    await run(fork.id, "set", "A1", "99");
    await run(fork.id, "set", "D4", "x");
    const preview = await previewMerge(stack, id, fork.id);
    expect(preview.counts).toEqual({ unchanged: 2, moved: 0, dropped: 0, rejected: 0, inConflict: 1 });
    expect(preview.edits[0]).toMatchObject({ outcome: "unchanged", conflictCount: 1, conflicts: [{ row: 0, column: 0 }] });
    const merged = await merge(stack, id, { fork: fork.id, through: preview.through });
    expect(merged.counts).toEqual(preview.counts);
    const again = await merge(stack, id, { fork: fork.id, through: preview.through });
    expect(again.counts.unchanged).toBe(0);
    expect(merged.mergedAs).toBe(5);
    const { rows } = await loadRows(stack, id, { limit: 2 });
    expect(rows[0]?.mergedText).toContain("merged by");
  });

  test("cells are found and rows filtered", async () => {
    const id = await withEdits();
    const found = [];
    for await (const page of findCells(stack, id, { text: "TWO" })) found.push(...page.cells);
    expect(found).toMatchObject([{ row: 1, column: 1, value: "two", name: "Sheet1" }]);
    let rows = 0;
    for await (const page of filterCells(stack, id, { where: "A>=3", sum: "A" })) {
      rows += page.rows;
      expect(page.sum?.parts).toEqual([3]);
    }
    expect(rows).toBe(1);
  });

  test.each([
    ["no JSON", "<html>"],
    ["no entries", "{}"],
    ["a position that is none", '{"entries":[{"position":-1,"kind":"edits","created_s":1}]}'],
    ["a kind that is none", '{"entries":[{"position":1,"kind":"other","created_s":1}]}'],
    ["cells that are none", '{"entries":[{"position":1,"kind":"edits","created_s":1,"mutations":[{"id":1,"base":0,"op":{"setCells":{"cells":5}}}]}]}'],
  ])("a reply with %s is refused", async (_, text) => {
    const fake = createStackClient({ url: "http://stack", getToken: () => "t", fetch: async () => new Response(text) });
    await expect(readHistory(fake, "id")).rejects.toBeInstanceOf(MalformedReply);
  });

  test("an operation of a newer server is shown as such", async () => {
    const text = '{"entries":[{"position":1,"kind":"edits","created_s":1,"mutations":[{"id":1,"base":0,"op":{"foldRows":{"x":1}}}]}]}';
    const fake = createStackClient({ url: "http://stack", getToken: () => "t", fetch: async () => new Response(text) });
    expect((await loadRows(fake, "id", { limit: 1 })).rows[0]?.text).toBe("made an edit of a newer kind (foldRows)");
  });
});

test("an index of the later state is found in the earlier one", () => {
  const later = (lines: number[], inserted: { first: number; count: number }[], deleted: { first: number; count: number }[]) => {
    return lines.map((line) => earlierIndex(line, { inserted, deleted }));
  };
  expect(later([0, 1, 2, 3, 4], [{ first: 1, count: 2 }], [])).toEqual([0, null, null, 1, 2]);
  expect(later([0, 1, 2], [], [{ first: 1, count: 3 }])).toEqual([0, 4, 5]);
  expect(later([0, 1, 2, 3], [{ first: 0, count: 1 }], [{ first: 0, count: 2 }, { first: 3, count: 1 }])).toEqual([null, 2, 4, 5]);
});
