import { describe, expect, test } from "vitest";
import { groupRows, withNewer, type HistoryRow } from "../../src/app/panels/history-rows";
import { positionOf } from "../../src/app/panels/shown-state";
import { indexAfterKey, nearestEntry, placesOf } from "../../src/app/panels/timeline";

const at = (...times: number[]) => times.map((createdS) => ({ createdS }));

describe("the time bar", () => {
  test("entries are in order, also those of one second", () => {
    expect(placesOf(at(5))).toEqual([1]);
    expect(placesOf(at(5, 5, 5))).toEqual([0, 0.5, 1]);
    const places = placesOf(at(0, 1, 1, 1, 1_000_000));
    expect(places.every((place, index) => index === 0 || place > places[index - 1]!)).toBe(true);
    expect([places[0], places.at(-1)]).toEqual([0, 1]);
  });

  test("a place outside the bar is its end", () => {
    const places = placesOf(at(0, 10, 20));
    expect([-3, 0.1, 0.6, 7].map((place) => nearestEntry(places, place))).toEqual([0, 0, 1, 2]);
  });

  test("keys move within the entries", () => {
    const after = (key: string, index: number) => indexAfterKey(key, index, 30);
    expect([after("ArrowLeft", 0), after("ArrowRight", 5), after("PageUp", 25), after("Home", 9), after("End", 9), after("x", 9)])
      .toEqual([0, 6, 29, 0, 29, null]);
  });
});

describe("the rows of the history", () => {
  const row = (position: number, createdS: number, author: string): HistoryRow => ({ position, createdS, author, text: "x" });

  test("neighbors of one day and author are a group", () => {
    const DAY_S = 86_400;
    const groups = groupRows([row(4, 3 * DAY_S, "a"), row(3, 3 * DAY_S, "a"), row(2, 3 * DAY_S, "b"), row(1, DAY_S, "b")]);
    expect(groups.map((group) => group.rows.length)).toEqual([2, 1, 1]);
  });

  test("newer rows are added, unless rows between are missing", () => {
    const known = [row(2, 0, "a"), row(1, 0, "a")];
    expect(withNewer(known, { rows: [row(3, 0, "a"), row(2, 0, "a")], next: 1 })?.map((item) => item.position)).toEqual([3, 2, 1]);
    expect(withNewer(known, { rows: [row(9, 0, "a"), row(8, 0, "a")], next: 7 })).toBeNull();
  });
});

test("only a position has a number", () => {
  expect(["0.42", "1.0", "2026-11-24T00:14Z", null].map(positionOf)).toEqual([42, 2 ** 32, null, null]);
});
