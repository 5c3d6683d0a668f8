import { make, resize } from "./dom";
import { columnOffset, frozenHeight, maxOffset, rowOffset, rowTravel, type ScrollAction, type ScrollContext, type ScrollPosition } from "./scroll";
import { trackLength, trackOfOffset, type Track } from "./track";

const IDLE_MS = 150;

/**
 * Connects the browser's scrolling to the scroll position.
 *
 * The browser scrolls an element of limited height, which gives wheel, touch and inertia as users know them. The
 * viewport sticks to its corner. Movements count one to one; only the scrollbar is scaled.
 */
export class Scroller {
  readonly viewport = make("div", "viewport");
  readonly element: HTMLDivElement;
  readonly #tall = make("div", "tall");
  #top = 0;
  #left = 0;
  #isDragging = false;
  #touches = 0;
  #idleTimer = 0;

  constructor(
    private readonly act: (action: ScrollAction) => void,
    private readonly onIdle: () => void,
  ) {
    this.#tall.append(this.viewport);
    this.element = make("div", "scroller", {}, this.#tall);
    this.element.addEventListener("scroll", () => this.#handleScroll(), { passive: true });
    this.element.addEventListener("pointerdown", (event) => this.#handlePointerDown(event), { passive: true });
    const stopDragging = () => (this.#isDragging = false);
    for (const type of ["wheel", "keydown", "pointerup"]) this.element.addEventListener(type, stopDragging, { passive: true });
    // Not every browser reports the release of its scrollbar.
    this.element.addEventListener("pointermove", (event) => event.buttons === 0 && stopDragging(), { passive: true });
    this.element.addEventListener("touchstart", (event) => (this.#touches = event.touches.length), { passive: true });
    const handleTouchEnd = (event: TouchEvent) => {
      this.#touches = event.touches.length;
      this.#waitForIdle();
    };
    this.element.addEventListener("touchend", handleTouchEnd, { passive: true });
    this.element.addEventListener("touchcancel", handleTouchEnd, { passive: true });
  }

  /** Sets the size of the tall element and of the viewport. */
  layout(context: ScrollContext, headerWidth: number, headerHeight: number): void {
    const { clientWidth, clientHeight } = this.element;
    resize(this.viewport, clientWidth, clientHeight);
    const width = trackLength(context.columns.length + headerWidth);
    const height = trackLength(context.rows.length + headerHeight);
    resize(this.#tall, width, height);
  }

  /** Moves the scrollbar to where the position is. Not during a touch: Safari then drops the movement. */
  synchronize(position: ScrollPosition, context: ScrollContext): void {
    if (this.#touches > 0 || this.#isDragging) return;
    const top = trackOfOffset(rowOffset(position, context) - frozenHeight(context), this.#rowTrack(context));
    const left = trackOfOffset(columnOffset(position, context), this.#columnTrack(context));
    if (Math.abs(top - this.element.scrollTop) >= 1) this.element.scrollTop = top;
    if (Math.abs(left - this.element.scrollLeft) >= 1) this.element.scrollLeft = left;
    // Read back, since browsers round: otherwise the scroll event of this movement would move the position.
    this.#top = this.element.scrollTop;
    this.#left = this.element.scrollLeft;
  }

  #handleScroll(): void {
    const { scrollTop, scrollLeft } = this.element;
    const y = scrollTop - this.#top;
    const x = scrollLeft - this.#left;
    this.#top = scrollTop;
    this.#left = scrollLeft;
    if (x === 0 && y === 0) return;
    if (this.#isDragging) this.#drag(x, y);
    else this.act({ kind: "by", x, y });
    this.#waitForIdle();
  }

  #drag(x: number, y: number): void {
    if (y !== 0) this.act({ kind: "dragRows", to: this.#top, track: this.#rowTrack(this.context!) });
    if (x !== 0) this.act({ kind: "dragColumns", to: this.#left, track: this.#columnTrack(this.context!) });
  }

  /** The context of the last frame, for drags. */
  context: ScrollContext | null = null;

  /** A press on the scrollbar hits the scroller beside its contents. */
  #handlePointerDown(event: PointerEvent): void {
    const box = this.element.getBoundingClientRect();
    const isBeside = event.clientX - box.left >= this.element.clientWidth || event.clientY - box.top >= this.element.clientHeight;
    this.#isDragging = event.target === this.element && isBeside && this.context !== null;
  }

  #waitForIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = window.setTimeout(() => {
      if (this.#touches === 0 && !this.#isDragging) this.onIdle();
    }, IDLE_MS);
  }

  #rowTrack(context: ScrollContext): Track {
    return { travel: this.element.scrollHeight - this.element.clientHeight, maxOffset: rowTravel(context) };
  }

  #columnTrack(context: ScrollContext): Track {
    return { travel: this.element.scrollWidth - this.element.clientWidth, maxOffset: maxOffset(context.columns, context.width) };
  }
}
