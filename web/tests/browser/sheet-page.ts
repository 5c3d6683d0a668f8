/** A page with a `<cellar-grid>`, used as a person does. */

import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { SheetStatus } from "../../src/data/types";

const SAVE_MS = 30_000;

export class SheetPage {
  constructor(readonly page: Page) {}

  get grid(): Locator {
    return this.page.locator("cellar-grid");
  }

  cell(text: string): Locator {
    return this.grid.locator(".cell:visible", { hasText: text }).first();
  }

  async ready(): Promise<this> {
    await this.grid.locator(".row-header:visible").first().waitFor();
    return this;
  }

  /** Keeps the messages that the grid shows from now on. Returns a function that reads them. */
  async keepMessages(): Promise<() => Promise<string[]>> {
    const messages = await this.grid.evaluateHandle((grid) => {
      const kept: string[] = [];
      grid.addEventListener("cellar-notice", (event) => kept.push((event as CustomEvent<string>).detail));
      return kept;
    });
    return () => messages.jsonValue();
  }

  /** Selects a cell or range by the name box. */
  async goTo(address: string): Promise<void> {
    await this.grid.locator(".name-box").fill(address);
    await this.grid.locator(".name-box").press("Enter");
  }

  /** Waits until the grid has drawn what changed before. */
  async drawn(): Promise<void> {
    await this.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }

  async enter(address: string, text: string): Promise<void> {
    await this.goTo(address);
    await this.page.keyboard.type(text);
    await this.page.keyboard.press("Enter");
  }

  /** Runs a command of the context menu of the selection. */
  async choose(address: string, command: string | RegExp): Promise<void> {
    await this.goTo(address);
    await this.page.keyboard.press("Shift+F10");
    await this.page.getByRole("menuitem", { name: command }).click();
  }

  async contents(address: string): Promise<string> {
    await this.goTo(address);
    await this.drawn();
    return this.grid.locator(".formula").inputValue();
  }

  status(): Promise<SheetStatus> {
    return this.grid.evaluate((grid) => ({ ...(grid as HTMLElementTagNameMap["cellar-grid"]).source!.status }));
  }

  /** Waits until the server has all edits, and the page has read their entries. */
  async saved(timeout = SAVE_MS): Promise<void> {
    await expect.poll(async () => (await this.status()).pending, { timeout, message: "edits that wait" }).toBe(0);
  }

  /** Waits until the page shows a position, such as `0.42`. */
  async reaches(position: string, timeout = SAVE_MS): Promise<void> {
    await expect.poll(async () => (await this.status()).position, { timeout }).toBe(position);
  }

  /** Loads all cells and returns their displayed texts by address, such as `{"0,1": "12.80"}`. */
  async cells(): Promise<Record<string, string>> {
    return this.grid.evaluate(async (element) => {
      const source = (element as HTMLElementTagNameMap["cellar-grid"]).source!;
      const { rows, columns } = source.extent;
      const isLoaded = () => Array.from({ length: rows }, (_, row) => row).every((row) => source.isLoaded(row, 0) && source.isLoaded(row, columns - 1));
      for (let attempt = 0; rows > 0 && !isLoaded(); attempt++) {
        if (attempt === 200) throw new Error("the cells were not loaded in 10 s");
        source.request({ firstRow: 0, rowCount: rows, firstColumn: 0, columnCount: columns });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const texts: Record<string, string> = {};
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const cell = source.cellAt(row, column);
          if (cell !== undefined && cell.value !== null) texts[`${row},${column}`] = cell.text;
        }
      }
      return texts;
    });
  }
}
