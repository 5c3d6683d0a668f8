import { colorOfPerson } from "../base/person-color";
import type { OtherSelection, Range, SheetSource } from "../data/types";
import type { Controller } from "./controller";
import { make, moveTo, setAttribute, setText } from "./dom";
import { MAX_COLUMNS, MAX_ROWS, ROW_HEIGHT } from "./limits";
import { textWidth } from "./measure";
import { labelPlace, peopleText, shortName } from "./other-look";
import { boxOf, place, type Box } from "./overlay";
import { frozenHeight } from "./scroll";
import { contains, currentRange, intersect } from "./selection";
import { tabOf } from "./tabs";
import { shownRanges, type View } from "./view";

/** How long a name is shown after its selection has moved. */
const NAME_MS = 3_000;
const LABEL_PADDING = 10;

interface Slot {
  element: HTMLDivElement;
  label: HTMLSpanElement;
  labelWidth: number;
  box: Box | null;
  moves: number;
  timer: number;
}

/** The elements of the grid where others are shown. */
interface OthersElements {
  overlay: HTMLElement;
  status: HTMLElement;
  tabs: HTMLElement;
  viewport: HTMLElement;
}

/** Draws what others have selected, lists who is here, and reports to the source what the user has selected. */
export class Others {
  private readonly pane = make("div", "others");
  /** The only one that is spoken: cursors move too often. */
  private readonly people = make("span", "people", { role: "status" });
  private readonly slots = new Map<string, Slot>();
  private source: SheetSource | null = null;
  private announced = "";
  private hasDots = false;
  private others: readonly OtherSelection[] = [];

  constructor(
    private readonly controller: Controller,
    private readonly elements: OthersElements,
  ) {
    // Under the own selection.
    elements.overlay.prepend(this.pane);
    elements.status.prepend(this.people);
    elements.viewport.addEventListener("pointermove", (event) => this.showNamesAt(event));
    elements.viewport.addEventListener("pointerleave", () => this.showNamesAt(null));
  }

  draw(view: View): void {
    this.announce(view);
    this.others = view.source.others ?? [];
    const clients = new Set(this.others.map(({ client }) => client));
    for (const [client, slot] of this.slots) if (!clients.has(client)) this.drop(client, slot);
    for (const other of this.others) this.drawOther(other, view);
    setText(this.people, peopleText(this.others));
    this.people.hidden = this.others.length === 0;
    this.drawTabs(view.source);
  }

  /** Who has selected a cell, for screen readers. */
  labelsAt(sheet: number, row: number, column: number): string[] {
    const here = this.others.filter((other) => other.sheet === sheet && contains(other, row, column));
    return here.map(({ author }) => `selected by ${shortName(author)}`);
  }

  private announce({ source, selection }: View): void {
    const range = wholeRange(currentRange(selection), this.controller.whole);
    const key = JSON.stringify([source.sheet, range]);
    if (key === this.announced && source === this.source) return;
    [this.announced, this.source] = [key, source];
    source.announce?.({ ...range, sheet: source.sheet });
  }

  private drawOther(other: OtherSelection, view: View): void {
    const slot = this.slots.get(other.client) ?? this.addSlot(other);
    const { element, label } = slot;
    const range = other.sheet === view.source.sheet ? shownPart(other, this.controller.size, view) : null;
    slot.box = range && boxOf(range, view);
    place(element, slot.box);
    label.hidden = element.hidden;
    element.classList.toggle("wide", other.rowCount * other.columnCount > 1);
    for (const part of [element, label]) part.style.setProperty("--other", colorOf(other));
    if (slot.moves !== other.moves) this.noteMove(slot, other.moves);
    if (slot.box && !element.hidden) placeLabel(slot, slot.box, view);
  }

  private addSlot(other: OtherSelection): Slot {
    const label = make("span", "other-name", {}, shortName(other.author));
    const element = make("div", "other");
    this.pane.append(element, label);
    const slot: Slot = { element, label, labelWidth: 0, box: null, moves: 0, timer: 0 };
    slot.labelWidth = Math.ceil(textWidth(label.textContent ?? "", label)) + LABEL_PADDING;
    label.style.width = `${slot.labelWidth}px`;
    this.slots.set(other.client, slot);
    return slot;
  }

  private drop(client: string, { element, label, timer }: Slot): void {
    clearTimeout(timer);
    element.remove();
    label.remove();
    this.slots.delete(client);
  }

  /** Shows the name for a while. */
  private noteMove(slot: Slot, moves: number): void {
    slot.moves = moves;
    clearTimeout(slot.timer);
    slot.label.classList.add("moved");
    slot.timer = window.setTimeout(() => slot.label.classList.remove("moved"), NAME_MS);
  }

  private showNamesAt(pointer: PointerEvent | null): void {
    if (this.slots.size === 0) return;
    const { left, top } = this.elements.overlay.getBoundingClientRect();
    for (const { box, label, element } of this.slots.values()) {
      const [x, y] = pointer ? [pointer.clientX - left, pointer.clientY - top] : [-1, -1];
      const isInside = box !== null && !element.hidden && x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
      label.classList.toggle("hovered", pointer !== null && isInside);
    }
  }

  /** Marks the tabs of the other sheets that others see. */
  private drawTabs(source: SheetSource): void {
    // A spreadsheet may have many sheets, and this runs in each frame.
    if (this.others.length === 0 && !this.hasDots) return;
    this.hasDots = this.others.length > 0;
    for (const { sheet } of source.sheets) {
      const tab = tabOf(this.elements.tabs, sheet);
      const here = sheet === source.sheet ? [] : this.others.filter((other) => other.sheet === sheet);
      const [first] = here;
      if (!tab) continue;
      tab.classList.toggle("occupied", first !== undefined);
      if (tab.title !== peopleText(here)) setAttribute(tab, "title", peopleText(here));
      if (first) tab.style.setProperty("--other", colorOf(first));
    }
  }
}

function colorOf({ author }: OtherSelection): string {
  return `var(--cellar-mark-${colorOfPerson(author)})`;
}

/** Whole rows and columns end where a sheet can end, not where this grid does. */
function wholeRange(range: Range, whole: "rows" | "columns" | null): Range {
  if (whole === "rows") return { ...range, firstColumn: 0, columnCount: MAX_COLUMNS };
  return whole === "columns" ? { ...range, firstRow: 0, rowCount: MAX_ROWS } : range;
}

/** Returns the part of a range that the grid has, or null if none of it is in view. */
function shownPart(range: Range, size: { rows: number; columns: number }, view: View): Range | null {
  const part = intersect(range, { firstRow: 0, rowCount: size.rows, firstColumn: 0, columnCount: size.columns });
  return part && shownRanges(view).some((shown) => intersect(part, shown)) ? part : null;
}

function placeLabel({ element, label, labelWidth }: Slot, box: Box, view: View): void {
  const { context, selection } = view;
  const { row, column } = selection.active;
  const active = boxOf({ firstRow: row, rowCount: 1, firstColumn: column, columnCount: 1 }, view);
  // The border of the active cell is drawn over the other one.
  element.classList.toggle("own", box.x === active.x && box.y === active.y);
  const start = box.y < frozenHeight(context) - ROW_HEIGHT ? 0 : frozenHeight(context);
  const body = { x: 0, y: start, width: context.width, height: frozenHeight(context) + context.height - start };
  const at = labelPlace(box, labelWidth, active, body);
  label.hidden = at === null;
  if (at) moveTo(label, at.x, at.y);
}
