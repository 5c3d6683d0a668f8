import { describe, expect, test } from "vitest";
import { NEW_PRESENCE, stepPresence, type PresenceEvent, type PresenceState } from "../../src/data/presence-rule";

const HOUR_MS = 3_600_000;
const AGE_MS = 45_000;

/** Keeps announcements for their time, as the server does. */
class Server {
  readonly announced = new Map<string, { ms: number; moves: number }>();

  others(client: string, nowMs: number) {
    return [...this.announced].filter(([other, { ms }]) => other !== client && nowMs - ms < AGE_MS).map(([other, it]) => ({ other, ...it }));
  }
}

/** A page that is answered at once, and counts its requests. */
class Page {
  state: PresenceState = NEW_PRESENCE;
  readonly requests = { announce: 0, read: 0, leave: 0 };
  /** Times of all requests. */
  readonly times: number[] = [];
  answer: "answered" | "failed" | "none" = "answered";
  wakeMs = Number.POSITIVE_INFINITY;
  private moves = 0;
  private readonly seen = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly server: Server,
    private readonly random = () => 0,
  ) {}

  send(event: PresenceEvent, nowMs: number): void {
    if (event.kind === "moved") this.moves += 1;
    const [state, action] = stepPresence(this.state, event, nowMs, this.random);
    this.state = state;
    this.wakeMs = action.kind === "wait" ? nowMs + action.ms : Number.POSITIVE_INFINITY;
    if (action.kind === "wait") expect(action.ms).toBeGreaterThan(0);
    if (action.kind === "wait" || action.kind === "rest") return;
    this.requests[action.kind] += 1;
    this.times.push(nowMs);
    if (action.kind === "leave") return void this.server.announced.delete(this.name);
    if (this.answer === "failed") return this.send({ kind: "failed", askedMs: 0 }, nowMs);
    if (this.answer === "none") return;
    if (action.kind === "announce") this.server.announced.set(this.name, { ms: nowMs, moves: this.moves });
    const others = this.server.others(this.name, nowMs);
    const haveOthersMoved = others.some(({ other, moves }) => this.seen.get(other) !== moves);
    for (const { other, moves } of others) this.seen.set(other, moves);
    this.send({ kind: "answered", othersForMs: Math.max(0, ...others.map(({ ms }) => AGE_MS - (nowMs - ms))), haveOthersMoved }, nowMs);
  }

  open(nowMs = 0): this {
    this.send({ kind: "moved" }, nowMs);
    this.send({ kind: "active" }, nowMs);
    return this;
  }
}

/** Runs pages until a time. `each` is called at every step. */
function run(pages: readonly Page[], untilMs: number, each: (nowMs: number) => void = () => undefined, stepMs = 100, fromMs = stepMs): void {
  for (let nowMs = fromMs; nowMs < untilMs; nowMs += stepMs) {
    each(nowMs);
    for (const page of pages) if (page.wakeMs <= nowMs) page.send({ kind: "time" }, nowMs);
  }
}

/** Moves the selection of a page every 500 ms. */
const moving = (...pages: Page[]) => (nowMs: number) => {
  if (nowMs % 500 === 0) for (const page of pages) page.send({ kind: "moved" }, nowMs);
};

describe("presence", () => {
  test("an hour alone costs one announcement without moves, and at most 120 with them", () => {
    const idle = new Page("idle", new Server()).open();
    run([idle], HOUR_MS);
    expect(idle.requests).toEqual({ announce: 1, read: 0, leave: 0 });
    const busy = new Page("busy", new Server()).open();
    run([busy], HOUR_MS, moving(busy));
    expect(busy.requests).toEqual({ announce: 120, read: 0, leave: 0 });
    expect(busy.times.slice(0, 3)).toEqual([0, 30_000, 60_000]);
  });

  test("two people who move all the time announce every 2 seconds, and never read", () => {
    const server = new Server();
    const [one, other] = [new Page("one", server).open(), new Page("other", server).open()];
    run([one, other], HOUR_MS, moving(one, other));
    // The first page was alone when it was opened.
    expect(one.requests).toEqual({ announce: 1_786, read: 0, leave: 0 });
    expect(other.requests).toEqual({ announce: 1_800, read: 0, leave: 0 });
  });

  test("who watches another one reads every 2 seconds, and stops a minute after the last move", () => {
    const server = new Server();
    const mover = new Page("mover", server).open();
    const watcher = new Page("watcher", server).open();
    run([mover, watcher], 120_000, moving(mover));
    expect(watcher.requests).toEqual({ announce: 3, read: 57, leave: 0 });
    run([mover, watcher], HOUR_MS, undefined, 100, 120_000);
    // Both selections are shown for a minute after the last move, and then for 45 seconds.
    expect(watcher.requests).toEqual({ announce: 5, read: 85, leave: 0 });
    expect(mover.requests.announce).toBe(48);
  });

  test("two people who rest ask nothing after a minute", () => {
    const server = new Server();
    const pages = [new Page("one", server).open(), new Page("other", server).open()];
    run(pages, HOUR_MS);
    expect(pages.map(({ requests }) => requests)).toEqual([
      { announce: 1, read: 0, leave: 0 },
      { announce: 2, read: 21, leave: 0 },
    ]);
  });

  test("an edit of another client counts as another one, also while its selection is not known", () => {
    const page = new Page("page", new Server()).open();
    page.send({ kind: "edited" }, 10_000);
    expect(page.requests).toEqual({ announce: 1, read: 1, leave: 0 });
    page.send({ kind: "moved" }, 10_500);
    run([page], HOUR_MS, undefined, 100, 10_600);
    expect(page.times.slice(0, 4)).toEqual([0, 10_000, 10_500, 18_500]);
    expect(page.requests).toEqual({ announce: 2, read: 3, leave: 0 });
  });

  test("a program that edits all the time costs one read in 30 seconds", () => {
    const page = new Page("page", new Server()).open();
    run([page], HOUR_MS, (nowMs) => nowMs % 1_000 === 0 && page.send({ kind: "edited" }, nowMs));
    expect(page.requests.announce).toBe(1);
    expect(page.requests.read).toBeLessThanOrEqual(124);
    expect(page.requests.read).toBeGreaterThan(100);
  });

  test("a page that is hidden leaves once, asks nothing, and announces itself again", () => {
    const server = new Server();
    const page = new Page("page", server).open();
    page.send({ kind: "inactive" }, 1_000);
    page.send({ kind: "inactive" }, 1_100);
    expect(server.announced.size).toBe(0);
    run([page], 60_000, moving(page), 100, 1_200);
    expect(page.requests).toEqual({ announce: 1, read: 0, leave: 1 });
    page.send({ kind: "active" }, 60_000);
    expect(page.requests).toEqual({ announce: 2, read: 0, leave: 1 });
    // The server has forgotten it.
    page.send({ kind: "inactive" }, 60_000 + AGE_MS);
    expect(page.requests.leave).toBe(1);
  });

  test("who comes back soon is seen again", () => {
    const server = new Server();
    const mover = new Page("mover", server).open();
    const watcher = new Page("watcher", server).open();
    run([mover, watcher], 10_000, moving(mover));
    mover.send({ kind: "inactive" }, 10_000);
    const { read } = watcher.requests;
    run([watcher], 22_000, undefined, 100, 10_100);
    expect(watcher.requests.read - read).toBe(2);
    mover.send({ kind: "active" }, 22_000);
    run([mover, watcher], 60_000, moving(mover), 100, 22_100);
    expect(watcher.requests.read - read).toBeGreaterThan(10);
    mover.send({ kind: "inactive" }, 60_000);
    run([watcher], HOUR_MS, undefined, 100, 60_100);
    expect(watcher.requests.announce).toBeLessThanOrEqual(3);
    expect(watcher.times.at(-1)).toBeLessThan(60_000 + AGE_MS);
  });

  test("switching to the tab again and again announces at most every 2 seconds", () => {
    const page = new Page("page", new Server()).open();
    run([page], 60_000, (nowMs) => page.send({ kind: nowMs % 200 === 0 ? "active" : "inactive" }, nowMs));
    expect(page.requests.announce).toBeLessThanOrEqual(30);
    expect(page.requests.leave).toBeLessThanOrEqual(page.requests.announce);
  });

  test("failures are repeated less and less often, and lose no announcement", () => {
    const server = new Server();
    const page = new Page("page", server, () => 0.999);
    page.answer = "failed";
    page.open();
    run([page], HOUR_MS);
    const gaps = page.times.slice(1).map((ms, index) => ms - page.times[index]!);
    expect(gaps[0]).toBeLessThanOrEqual(4_100);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(300_100);
    expect(page.requests.announce).toBeLessThan(22);
    page.answer = "answered";
    run([page], 2 * HOUR_MS, undefined, 100, HOUR_MS);
    expect(server.announced.size).toBe(1);
  });

  test("the wait that the server asks for is kept", () => {
    const page = new Page("page", new Server());
    page.answer = "none";
    page.open();
    page.send({ kind: "failed", askedMs: 50_000 }, 0);
    page.answer = "answered";
    run([page], 100_000);
    expect(page.times).toEqual([0, 50_000]);
  });

  test("a request without an answer holds back the next one", () => {
    const page = new Page("page", new Server());
    page.answer = "none";
    page.open();
    run([page], HOUR_MS, moving(page));
    expect(page.requests).toEqual({ announce: 1, read: 0, leave: 0 });
  });

  test("pages that saw the same edit spread their requests", () => {
    const delays = [0, 0.5, 0.999].map((random) => {
      const page = new Page("page", new Server(), () => random).open();
      page.send({ kind: "edited" }, 5_000);
      return page.wakeMs - 5_000;
    });
    expect(delays[0]).toBe(4_000);
    expect(new Set(delays).size).toBe(3);
    expect(Math.max(...delays)).toBeLessThanOrEqual(4_400);
  });
});
