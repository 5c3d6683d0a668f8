/** The status says whether edits are saved: a long name must leave room for it. */

import { expect, it } from "vitest";
import { describeInBrowser, openPage } from "./harness";

const SIZES = [{ width: 1280, height: 800 }, { width: 390, height: 844 }];

describeInBrowser("the header of a spreadsheet", (harness) => {
  it.each(SIZES)("shows the whole status beside a long name at $width × $height", async (viewport) => {
    const name = "A spreadsheet with an uncommonly long name, as people give it to a file that has everything in it".slice(0, 100);
    const spreadsheet = await harness.stack.create(name);
    const page = await openPage(harness, await harness.newContext({ viewport }), spreadsheet);
    const status = page.locator(".status").first();
    await status.filter({ hasText: "Saved" }).waitFor();
    const box = await status.evaluate((element) => ({ hidden: element.scrollWidth - element.clientWidth, top: element.getBoundingClientRect().top }));
    expect(box.hidden).toBe(0);
    const titleBottom = await page.locator(".title").evaluate((element) => element.getBoundingClientRect().bottom);
    // A narrow screen has a line for it.
    if (viewport.width < 640) expect(box.top).toBeGreaterThanOrEqual(titleBottom);
  });
});
