import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goTo, hasBrowser, startGridBrowser, withGrid, type GridBrowser } from "./grid-page";

/**
 * Measures the targets of the documentation. Not part of the usual tests, since other work on the machine changes the
 * result: `SPEED=1 npx vitest run tests/browser/grid-speed.test.ts`. With `PROFILE=FILE`, writes a profile of the
 * scrolling for the developer tools of Chromium.
 */
const isWanted = process.env["SPEED"] !== undefined && hasBrowser;
const SCROLL_MS = 10_000;

let chromium: GridBrowser;

function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

function report(name: string, values: readonly number[]): void {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((part) => percentile(values, part).toFixed(1));
  console.log(`${name}: p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms, ${values.length} values`);
}

describe.skipIf(!isWanted)("speed", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    chromium = await startGridBrowser();
  }, 60_000);
  afterAll(() => chromium?.close());

  test("key to paint", async () => {
    const page = await chromium.open();
    await goTo(page, "C100");
    await page.evaluate(() => {
      const samples: { total: number; work: number }[] = [];
      const grid = document.querySelector("cellar-grid")!;
      grid.addEventListener("keydown", (event) => {
        const start = event.timeStamp;
        const begun = performance.now();
        // After the grid's listener; before its frame.
        setTimeout(() => undefined);
        requestAnimationFrame((frame) => {
          const framed = performance.now();
          const channel = new MessageChannel();
          // The message arrives after style, layout and paint of the frame.
          channel.port1.onmessage = () => samples.push({ total: performance.now() - start, work: performance.now() - Math.min(framed, Math.max(frame, begun)) });
          channel.port2.postMessage(null);
        });
      }, { capture: true });
      Object.assign(window, { samples });
    });
    for (let count = 0; count < 400; count++) {
      await page.keyboard.press(count % 40 < 20 ? "ArrowDown" : "ArrowRight");
      await page.waitForTimeout(5 + (count % 13));
    }
    const samples = await page.evaluate(() => (window as unknown as { samples: { total: number; work: number }[] }).samples);
    report("Key to paint", samples.map(({ total }) => total));
    report("Work of the frame of a key", samples.map(({ work }) => work));
    expect(percentile(samples.map(({ work }) => work), 0.95)).toBeLessThanOrEqual(16);
    await page.close();
  });

  test("scroll 10,000 rows a second", async () => {
    const page = await chromium.open();
    const session = await page.context().newCDPSession(page);
    const profile = process.env["PROFILE"];
    if (profile) {
      await session.send("Profiler.enable");
      await session.send("Profiler.start");
    }
    const { frames, works } = await page.evaluate(async (duration) => {
      const scroller = document.querySelector("cellar-grid")!.shadowRoot!.querySelector(".scroller")!;
      const frames: number[] = [];
      const works: number[] = [];
      let last = await new Promise<number>(requestAnimationFrame);
      const end = last + duration;
      while (last < end) {
        const begun = performance.now();
        const channel = new MessageChannel();
        channel.port1.onmessage = () => works.push(performance.now() - begun);
        scroller.scrollTop += (10_000 * 24 * 16.7) / 1_000;
        channel.port2.postMessage(null);
        const now = await new Promise<number>(requestAnimationFrame);
        frames.push(now - last);
        last = now;
      }
      return { frames, works };
    }, SCROLL_MS);
    if (profile) await writeFile(profile, JSON.stringify((await session.send("Profiler.stop")).profile));
    report("Frame while scrolling", frames);
    report("Work of a frame while scrolling", works);
    const stopped = await page.evaluate(() => performance.now());
    await expect.poll(() => page.locator(".cell.loading:visible").count(), { interval: 5 }).toBe(0);
    console.log(`Cells filled ${((await page.evaluate(() => performance.now())) - stopped).toFixed(0)} ms after the scrolling stopped`);
    expect(await withGrid(page, (grid) => grid.shadowRoot!.querySelectorAll("*").length, null)).toBeLessThan(2_000);
    expect(percentile(frames, 0.95)).toBeLessThanOrEqual(20);
    await page.close();
  });
});
