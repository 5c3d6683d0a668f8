/**
 * A source that shows the newest state or an earlier one of a spreadsheet. The grid and the panels keep
 * one source, so that the selection and the scrolled place stay when the state is switched.
 */

import type { OpenedSheet } from "../../data/index";
import { Listeners } from "../../data/listeners";
import type { Range, SheetRange } from "../../data/types";

export class SheetSwitch {
  /** What the grid and the panels get. */
  readonly source: OpenedSheet;
  readonly #listeners = new Listeners();
  #shown: OpenedSheet;
  #range: Range | null = null;
  #selection: SheetRange | null = null;
  #readOnlyReason: string | null = null;
  #unsubscribe: () => void;

  constructor(first: OpenedSheet) {
    this.#shown = first;
    this.#unsubscribe = first.subscribe((change) => this.#listeners.emit(change));
    const subscribe: OpenedSheet["subscribe"] = (listener) => this.#listeners.subscribe(listener);
    const close = () => this.close();
    const request: OpenedSheet["request"] = (range) => {
      this.#range = range;
      this.#shown.request(range);
    };
    const announce: OpenedSheet["announce"] = (selection) => {
      this.#selection = selection;
      this.#shown.announce?.(selection);
    };
    const own: Partial<Record<PropertyKey, unknown>> = { subscribe, close, request, announce };
    this.source = new Proxy(first, {
      get: (_, name) => own[name] ?? this.#read(name as keyof OpenedSheet),
    });
  }

  get shown(): OpenedSheet {
    return this.#shown;
  }

  /** Shows a state of the same spreadsheet. The caller closes the previous one. */
  show(next: OpenedSheet): void {
    if (next === this.#shown) return;
    const { sheet } = this.#shown;
    this.#unsubscribe();
    this.#shown.announce?.(null);
    this.#shown = next;
    if (next.sheets.some((info) => info.sheet === sheet)) next.selectSheet(sheet);
    this.#unsubscribe = next.subscribe((change) => this.#listeners.emit(change));
    // The grid asks again only when its view moves.
    if (this.#range !== null) next.request(this.#range);
    next.announce?.(this.#selection);
    for (const kind of ["sheets", "layout", "status"] as const) this.#listeners.emit({ kind });
  }

  /** Sets the reason why the user cannot edit, such as that the spreadsheet is archived. */
  set readOnlyReason(reason: string | null) {
    if (reason === this.#readOnlyReason) return;
    this.#readOnlyReason = reason;
    this.#listeners.emit({ kind: "status" });
  }

  close(): void {
    this.#unsubscribe();
    this.#listeners.clear();
  }

  #read(name: keyof OpenedSheet): unknown {
    const value = this.#shown[name];
    if (name === "status" && this.#readOnlyReason !== null) return { ...this.#shown.status, readOnlyReason: this.#readOnlyReason };
    return typeof value === "function" ? value.bind(this.#shown) : value;
  }
}
