import type { SheetSource } from "../data/types";

/** Shows other sheets while a formula stays open, so that the user can point at their cells. */
export class SheetVisit {
  /** The sheet of the formula, or null if no other one was visited. */
  #home: number | null = null;

  constructor(private readonly source: () => SheetSource | null) {}

  /** The sheet of the text that is edited. */
  get sheet(): number {
    return this.#home ?? this.source()?.sheet ?? -1;
  }

  get hasBegun(): boolean {
    return this.#home !== null;
  }

  /** Whether another sheet is shown than that of the text. */
  get isAway(): boolean {
    return this.#home !== null && this.#home !== this.source()?.sheet;
  }

  show(sheet: number): void {
    const source = this.source();
    this.#home ??= source?.sheet ?? null;
    source?.selectSheet(sheet);
  }

  /** Shows the sheet of the text again. Returns false if it was deleted. */
  end(): boolean {
    const home = this.#home;
    const source = this.source();
    this.#home = null;
    if (home === null || !source) return true;
    if (!source.sheets.some(({ sheet }) => sheet === home)) return false;
    if (source.sheet !== home) source.selectSheet(home);
    return true;
  }

  /** Ends it for another source. */
  forget(): void {
    this.#home = null;
  }
}
