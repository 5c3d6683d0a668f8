import { expect, test } from "vitest";
import { colorOfPerson } from "../../src/base/person-color";
import { marksOf, shownAt } from "../../src/app/sheet/author-marks";
import { problemText } from "../../src/app/problem-text";
import { sortSpreadsheets } from "../../src/app/list/sort";
import { runLimited } from "../../src/app/list/limit";
import { personOf } from "../../src/app/session";
import { ProblemError, UnreachableError } from "../../src/data/api-error";
import type { Spreadsheet } from "../../src/stack/details";
import { TitledProblem } from "../../src/stack/http";

function problem(kind: string, status: number): TitledProblem {
  return new TitledProblem(new ProblemError(kind, status, "spreadsheet 7 is gone", null), "Title of the type");
}

test.each([
  ["unauthorized", 401, "sign-in"],
  ["invalid-link", 401, "sign-in"],
  ["forbidden", 403, "sign-in"],
  ["not-found", 404, "list"],
  ["deleted", 410, "undelete"],
  ["internal", 500, "retry"],
] as const)("the problem %s says what to do", (kind, status, action) => {
  const text = problemText(problem(kind, status));
  expect(text).toMatchObject({ title: "Title of the type", detail: "Spreadsheet 7 is gone." });
  expect(text.actions[0]).toBe(action);
  expect(text.advice).not.toBe("");
});

test("a stack that does not respond says that edits are stored", () => {
  const text = problemText(new UnreachableError("the server did not respond: Failed to fetch"));
  expect(text.title).toBe("The stack does not respond");
  expect(text.detail).toContain("stored on this device");
  expect(text.actions).toEqual(["retry"]);
});

test("the list is sorted by age or by name", () => {
  const of = (name: string, createdS: number): Spreadsheet => ({ id: name, name, status: "active", createdS });
  const list = [of("b 10", 1), of("B 9", 3), of("a", 2)];
  const names = (order: "newest" | "name") => sortSpreadsheets(list, order).map(({ name }) => name);
  expect(names("newest")).toEqual(["B 9", "a", "b 10"]);
  expect(names("name")).toEqual(["a", "B 9", "b 10"]);
});

test("at most four requests run at a time, and a failed one lets the next start", async () => {
  let [running, most] = [0, 0];
  const work = async (fails: boolean) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (fails) throw new Error("refused");
  };
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => runLimited(() => work(index % 3 === 0))));
  expect(most).toBe(4);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(13);
});

test("marks of authors end, others stay", () => {
  const range = { firstRow: 1, rowCount: 1, firstColumn: 2, columnCount: 1 };
  const [mark] = marksOf(3, [range], "alice", 1_000);
  expect(mark).toMatchObject({ sheet: 3, kind: "changed", label: "alice", color: colorOfPerson("alice"), ...range });
  const panelMark = { ...range, sheet: 3, kind: "changed" } as const;
  expect(shownAt([mark!, panelMark], 999)).toHaveLength(2);
  expect(shownAt([mark!, panelMark], 1_000)).toEqual([panelMark]);
});

test("the tokens of a person name the same person", () => {
  const token = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
  const first = personOf({ token: token({ iss: "cellar", sub: "ann", exp: 1 }) });
  expect(personOf({ token: token({ iss: "cellar", sub: "ann", exp: 2 }) })).toBe(first);
  expect(personOf({ token: token({ iss: "other", sub: "ann" }) })).not.toBe(first);
  expect(personOf({ token: "not a token" })).toBe("not a token");
});
