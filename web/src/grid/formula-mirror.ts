import { make } from "./dom";
import type { Span } from "./formula-point";

/** A part of a text with a class of its own. */
export interface StyledSpan extends Span {
  className: string;
}

/**
 * Shows the text of a textarea with colors. A textarea has one color only, so the mirror lies over it and its own text is
 * transparent. Caret, selection and input stay those of the textarea.
 */
export class FormulaMirror {
  readonly element = make("div", "mirror", { "aria-hidden": "true" });
  readonly #text = make("div", "mirror-text");
  #key = "";

  /** `isComposing` says whether an input method writes into the field already. */
  constructor(
    private readonly field: HTMLTextAreaElement,
    private isComposing = false,
  ) {
    this.element.hidden = true;
    this.element.append(this.#text);
    field.after(this.element);
    field.addEventListener("scroll", () => this.#scroll());
    // An input method underlines its text, in the color of the field: the field shows it alone.
    for (const type of ["compositionstart", "compositionupdate"]) field.addEventListener(type, () => this.#setComposing(true));
    field.addEventListener("compositionend", () => this.#setComposing(false));
  }

  /** Returns whether the field has this text: the formula bar shows another cell while its own text is not edited. */
  shows(text: string | undefined): boolean {
    return text !== undefined && this.field.value === text;
  }

  /** Shows the spans over the field, or the field alone if there are none. */
  draw(spans: readonly StyledSpan[]): void {
    const isShown = spans.length > 0 && !this.isComposing;
    this.element.hidden = !isShown;
    this.field.classList.toggle("mirrored", isShown);
    if (!isShown) return;
    this.#setText(spans);
    this.#place();
  }

  #setText(spans: readonly StyledSpan[]): void {
    const { value } = this.field;
    const key = JSON.stringify([value, spans]);
    if (key === this.#key) return;
    this.#key = key;
    const parts: (Node | string)[] = [];
    let end = 0;
    for (const span of spans) {
      parts.push(value.slice(end, span.start), make("span", span.className, {}, value.slice(span.start, span.end)));
      end = span.end;
    }
    // A line break at the end has a line of its own in a textarea only.
    this.#text.replaceChildren(...parts, `${value.slice(end)}\u200b`);
  }

  #place(): void {
    const { style } = this.element;
    const { offsetLeft, offsetTop, offsetHeight, clientWidth, clientLeft } = this.field;
    style.left = `${offsetLeft}px`;
    style.top = `${offsetTop}px`;
    style.transform = this.field.style.transform;
    // A scrollbar of the textarea makes its lines shorter.
    style.width = `${clientWidth + 2 * clientLeft}px`;
    style.height = `${offsetHeight}px`;
    this.#scroll();
  }

  #scroll(): void {
    this.element.scrollTop = this.field.scrollTop;
    this.element.scrollLeft = this.field.scrollLeft;
  }

  #setComposing(isComposing: boolean): void {
    this.isComposing = isComposing;
    if (isComposing) this.draw([]);
  }
}
