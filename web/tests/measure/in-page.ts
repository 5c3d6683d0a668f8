/** Functions that run in the page. Each is sent as text, so that it may use nothing from this module. */

type Grid = HTMLElementTagNameMap["cellar-grid"];

/** Runs before the page: resolves with the time from the navigation to the end of the frame that shows cells. */
export function firstCellsMs(): void {
  (globalThis as unknown as { firstCells: Promise<number> }).firstCells = new Promise((resolve) => {
    // A message is handled after the frame has been painted. The grid may draw cells in the same frame.
    const { port1, port2 } = new MessageChannel();
    const lookAfterFrame = (): void => void requestAnimationFrame(() => port2.postMessage(null));
    port1.onmessage = () => {
      const paintedMs = performance.now();
      const cells = document.querySelector("cellar-grid")?.shadowRoot?.querySelectorAll(".cell") ?? [];
      if ([...cells].some((cell) => cell.textContent !== "")) resolve(paintedMs);
      else lookAfterFrame();
    };
    lookAfterFrame();
  });
}

/** Times of a key event, in milliseconds. */
export interface KeyTimes {
  /** From the event to the end of the next frame. */
  toPaint: number;
  /** The same without the time in which the page waits for the screen. */
  work: number;
}

/** Notes the times of each key event. */
export function watchKeys(): void {
  const times: KeyTimes[] = [];
  (globalThis as unknown as { keyTimes: KeyTimes[] }).keyTimes = times;
  let handledMs = Infinity;
  addEventListener("keydown", () => (handledMs = performance.now()));
  addEventListener(
    "keydown",
    ({ timeStamp }) => {
      // Until the listener above has run, after those of the grid.
      handledMs = Infinity;
      requestAnimationFrame(() => {
        const waitMs = Math.max(0, performance.now() - handledMs);
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
          const paintedMs = performance.now();
          times.push({ toPaint: paintedMs - timeStamp, work: paintedMs - timeStamp - waitMs });
        };
        port2.postMessage(null);
      });
    },
    { capture: true },
  );
}

export function keyTimes(): KeyTimes[] {
  return (globalThis as unknown as { keyTimes: KeyTimes[] }).keyTimes;
}

/** Resolves with the time, in milliseconds since 1970, at which a frame shows the text in a cell. */
export function textShownAtMs(text: string): Promise<number> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const lookAfterFrame = (): void => void requestAnimationFrame(() => port2.postMessage(null));
    port1.onmessage = () => {
      const paintedMs = performance.timeOrigin + performance.now();
      const cells = document.querySelector("cellar-grid")?.shadowRoot?.querySelectorAll(".cell") ?? [];
      if ([...cells].some((cell) => cell.textContent === text)) resolve(paintedMs);
      else lookAfterFrame();
    };
    lookAfterFrame();
  });
}

/** Begins to note the length of each frame. */
export function watchFrames(): void {
  const framesMs: number[] = [];
  let last = 0;
  const host = globalThis as unknown as { framesMs: number[] };
  host.framesMs = framesMs;
  const note = (now: number): void => {
    if (host.framesMs !== framesMs) return;
    if (last > 0) framesMs.push(now - last);
    last = now;
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}

/** Returns the noted lengths, and how long it takes until no visible row lacks its cells. */
export async function endFrames(): Promise<{ framesMs: number[]; filledMs: number; row: number }> {
  const host = globalThis as unknown as { framesMs: number[] };
  const { framesMs } = host;
  host.framesMs = [];
  const start = performance.now();
  const grid = document.querySelector<Grid>("cellar-grid")!;
  const visibleRows = (): HTMLElement[] => [...grid.shadowRoot!.querySelectorAll<HTMLElement>(".row")].filter((row) => row.offsetParent !== null);
  const numberOf = (row: HTMLElement): number => Number(row.querySelector(".row-header")!.textContent);
  // Column A has the number of the row.
  const hasNumber = (row: HTMLElement): boolean => [...row.querySelectorAll<HTMLElement>(".cell")].some((cell) => !cell.hidden && cell.textContent === String(numberOf(row)));
  const isFilled = (): boolean => visibleRows().length > 0 && visibleRows().every(hasNumber);
  do await new Promise((resolve) => requestAnimationFrame(resolve));
  while (!isFilled() && performance.now() - start < 10_000);
  return { framesMs, filledMs: performance.now() - start, row: Math.min(...visibleRows().map(numberOf)) };
}

export function heapBytes(): number {
  return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize;
}
