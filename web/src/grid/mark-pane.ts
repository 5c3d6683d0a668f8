import type { Mark } from "../data/types";
import { make, setText } from "./dom";
import { MARK_COLORS, MAX_DRAWN_MARKS } from "./limits";
import type { Marks } from "./marks";
import { frozenHeight } from "./scroll";
import { boxOf, place } from "./overlay";
import { shownRanges, type View } from "./view";

interface Slot {
  element: HTMLDivElement;
  label: HTMLSpanElement;
}

/** Draws the marks in view in recycled elements. */
export class MarkPane {
  readonly element = make("div", "marks");
  readonly #slots: Slot[] = [];

  draw(view: View, marks: Marks): void {
    const shown = new Set(shownRanges(view).flatMap((range) => marks.within(view.source.sheet, range, MAX_DRAWN_MARKS)));
    while (this.#slots.length < shown.size) this.#addSlot();
    let count = 0;
    for (const mark of shown) drawMark(this.#slots[count++]!, mark, view);
    for (; count < this.#slots.length; count++) this.#slots[count]!.element.hidden = true;
  }

  #addSlot(): void {
    const label = make("span", "mark-label");
    const element = make("div", "", {}, label);
    this.element.append(element);
    this.#slots.push({ element, label });
  }
}

function drawMark({ element, label }: Slot, mark: Mark, view: View): void {
  const box = boxOf(mark, view);
  const className = `mark ${mark.kind} color-${(mark.color ?? 0) % MARK_COLORS}`;
  if (element.className !== className) element.className = className;
  place(element, box);
  setText(label, mark.label ?? "");
  label.hidden = !mark.label;
  // Above the range, or inside it where the range starts at the top of the view.
  label.classList.toggle("inside", box.y < frozenHeight(view.context) + 16 && mark.firstRow >= view.context.frozenRows || box.y < 16);
}
