/** Functions that run in the page. Each is sent as text, so that it may use nothing from this module. */

type Grid = HTMLElementTagNameMap["cellar-grid"];

/** Runs before the page: resolves with the time from the navigation to the end of the frame that shows cells. */
export function firstCellsMs(): void {
  (globalThis as unknown as { firstCells: Promise<number> }).firstCells = new Promise((resolve) => {
    const look = (): void => {
      const cells = document.querySelector("cellar-grid")?.shadowRoot?.querySelectorAll(".cell") ?? [];
      if (![...cells].some((cell) => cell.textContent !== "")) return void requestAnimationFrame(look);
      // A message is handled after the frame has been painted.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now());
      port2.postMessage(null);
    };
    requestAnimationFrame(look);
  });
}

/** Notes the time from each key event to the end of the next frame. */
export function watchKeys(): void {
  const times: number[] = [];
  (globalThis as unknown as { keyTimes: number[] }).keyTimes = times;
  addEventListener(
    "keydown",
    ({ timeStamp }) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => times.push(performance.now() - timeStamp);
        port2.postMessage(null);
      }),
    { capture: true },
  );
}

export function keyToPaintMs(): number[] {
  return (globalThis as unknown as { keyTimes: number[] }).keyTimes;
}

/** Resolves with the time, in milliseconds since 1970, at which a frame shows the text in a cell. */
export function textShownAtMs(text: string): Promise<number> {
  return new Promise((resolve) => {
    const look = (): void => {
      const cells = document.querySelector("cellar-grid")?.shadowRoot?.querySelectorAll(".cell") ?? [];
      if (![...cells].some((cell) => cell.textContent === text)) return void requestAnimationFrame(look);
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
      port2.postMessage(null);
    };
    requestAnimationFrame(look);
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
