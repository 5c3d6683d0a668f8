/** A spreadsheet as it was at an earlier position or time. It is read-only and never changes. */

import type { Api, At } from "./api";
import { isTransient, messageOf } from "./api-error";
import type { Random } from "./backoff";
import { Listeners } from "./listeners";
import { Loader } from "./loader";
import type { OpenedSheet } from "./open-sheet";
import { positionText } from "./position";
import type { Range, SheetStatus } from "./types";
import { View } from "./view";
import { clampRange, wantedBlocks } from "./window";

const READ_ONLY = "This is an earlier state, which cannot be edited";

/** Resolves after the first attempt to load it. `refresh` makes another one if that failed. */
export async function openPastSheet(api: Api, at: At, random: Random): Promise<OpenedSheet> {
  const sheet = new PastSheet(api, at, random);
  await sheet.load();
  return sheet;
}

class PastSheet implements OpenedSheet {
  readonly #view = new View();
  readonly #listeners = new Listeners();
  readonly #abort = new AbortController();
  readonly #loader: Loader;
  #selected: number | null = null;
  #range: Range | null = null;
  #isOpen = false;
  #isOnline = false;
  #problem: string | null = null;
  readonly subscribe = this.#listeners.subscribe.bind(this.#listeners);
  readonly setCells = this.#refuse;
  readonly insertRows = this.#refuse;
  readonly deleteRows = this.#refuse;
  readonly insertColumns = this.#refuse;
  readonly deleteColumns = this.#refuse;
  readonly addSheet = this.#refuse;
  readonly renameSheet = this.#refuse;
  readonly deleteSheet = this.#refuse;
  readonly undo = async () => READ_ONLY;
  readonly redo = this.undo;

  constructor(
    private readonly api: Api,
    private readonly at: At,
    random: Random,
  ) {
    const events = {
      loaded: (sheet: number, range: Range, hasNewExtent: boolean) => {
        this.#noteSuccess();
        if (hasNewExtent) this.#listeners.emit({ kind: "sheets" });
        if (sheet === this.sheet) this.#listeners.emit({ kind: "cells", ranges: [range] });
      },
      failed: (error: unknown) => this.#noteFailure(error),
    };
    this.#loader = new Loader(api, this.#view.canonical, events, random);
  }

  async load(): Promise<void> {
    try {
      this.#view.canonical.reset(await this.api.sheets(this.at, this.#abort.signal));
      this.#view.rebuild();
      this.#isOpen = true;
      this.#noteSuccess();
      this.#listeners.emit({ kind: "sheets" });
      if (this.#range !== null) this.request(this.#range);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#noteFailure(error);
    }
  }

  #noteSuccess(): void {
    [this.#isOnline, this.#problem] = [true, null];
    this.#listeners.emit({ kind: "status" });
  }

  #noteFailure(error: unknown): void {
    this.#isOnline = !isTransient(error);
    this.#problem = messageOf(error);
    this.#listeners.emit({ kind: "status" });
  }

  #refuse(): void {
    this.#problem = READ_ONLY;
    this.#listeners.emit({ kind: "status" });
  }

  get sheets() {
    return this.#view.sheets;
  }

  get sheet(): number {
    const { sheets } = this;
    return (sheets.find((info) => info.sheet === this.#selected) ?? sheets[0])?.sheet ?? 0;
  }

  get extent() {
    return this.#view.extent(this.sheet);
  }

  get status(): SheetStatus {
    const position = positionText(this.#view.canonical.position);
    const nothing = { pending: 0, oldestPendingMs: null, role: "viewer" as const };
    return { position, ...nothing, isOnline: this.#isOnline, problem: this.#problem };
  }

  selectSheet(sheet: number): void {
    this.#selected = sheet;
    this.#range = null;
    this.#listeners.emit({ kind: "layout" });
  }

  cellAt(row: number, column: number) {
    return this.#view.cell(this.sheet, row, column);
  }

  isLoaded(row: number, column: number): boolean {
    return this.#view.isLoaded(this.sheet, row, column);
  }

  request(range: Range): void {
    const previous = this.#range;
    this.#range = clampRange(range);
    this.#loader.want(wantedBlocks(this.sheet, this.#range, previous));
  }

  async unsentEdits() {
    return { pending: [], setAside: [] };
  }

  refresh(): void {
    if (!this.#isOpen) void this.load();
  }

  close(): void {
    this.#abort.abort();
    this.#loader.close();
    this.#listeners.clear();
  }
}
