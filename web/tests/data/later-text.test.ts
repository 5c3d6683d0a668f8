import "fake-indexeddb/auto";
import { expect, it } from "vitest";
import { openSheet } from "../../src/data/index";
import { FakeServer, until } from "./server";

const VIEW = { firstRow: 0, rowCount: 30, firstColumn: 0, columnCount: 10 };

// The code for formats is loaded once per file, so that this file has one test.
it("cells in uncommon formats that arrive by entries get their text as soon as the code for formats is loaded", async () => {
  const server = new FakeServer();
  const options = { url: "https://example.com", spreadsheet: "s", getToken: () => "t", identity: "alice" };
  const sheet = await openSheet({ ...options, fetch: server.fetch, hints: [], random: () => 0 });
  sheet.request(VIEW);
  await until(() => sheet.isLoaded(0, 0));
  let reported: string | undefined;
  sheet.subscribe(({ kind }) => {
    if (kind === "cells") reported = sheet.cellAt(1, 1)?.text;
  });
  server.commit({ setCells: { sheet: 0, cells: [{ row: 1, column: 1, value: 0.5, format: "# ?/?" }, { row: 1, column: 2, value: 2 }] } });
  sheet.refresh();
  await until(() => reported?.trim() === "1/2");
  expect(sheet.cellAt(1, 2)?.text).toBe("2");
  sheet.close();
});
