/** Spreadsheets that were changed are shown as changed, although the list does not have the change yet. */

import { expect, test } from "vitest";
import { CHANGE_KEPT_MS, withChanges, type Changes } from "../../src/app/list/changes";
import type { Spreadsheet } from "../../src/stack/details";

const weather: Spreadsheet = { id: "w", name: "Weather", status: "active", role: "owner" };
const plans: Spreadsheet = { id: "p", name: "Plans", status: "active", role: "editor" };
const archived: Spreadsheet = { ...weather, status: "archived" };
const changedAt = (changedMs: number): Changes => new Map([["w", { spreadsheet: archived, changedMs }]]);

test("a change is shown until the list has it", () => {
  const changes = changedAt(0);
  expect(withChanges([weather, plans], changes, "", 1)).toEqual([archived, plans]);
  expect(withChanges([], changes, "", 1)).toEqual([archived]);
  expect(withChanges([archived], changes, "", 1)).toEqual([archived]);
  expect(withChanges([], changes, "", 1)).toEqual([]);
});

test("a change is forgotten after its time, because the list may have a later one", () => {
  const changes = changedAt(0);
  expect(withChanges([], changes, "", CHANGE_KEPT_MS)).toEqual([archived]);
  expect(withChanges([weather], changes, "", CHANGE_KEPT_MS + 1)).toEqual([weather]);
  expect(changes.size).toBe(0);
});

test("a changed spreadsheet is added only if it matches the search", () => {
  expect(withChanges([], changedAt(0), " wea ", 0)).toEqual([archived]);
  expect(withChanges([], changedAt(0), "plans", 0)).toEqual([]);
});
