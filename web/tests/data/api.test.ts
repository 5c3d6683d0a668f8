import { describe, expect, it } from "vitest";
import { AbortedError, ProblemError, UnreachableError } from "../../src/data/api-error";
import { columnName } from "../../src/base/sheet";
import { Api, rangeText } from "../../src/data/api";
import { NEW_POLLING, stepPolling, type PollEvent } from "../../src/data/backoff";
import { MalformedReply } from "../../src/data/decode";

type Answer = Response | Error | ((url: string, init: RequestInit) => Response | Promise<Response>);

function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

/** Returns an API whose server gives the answers in order, and the requests that it received. */
function apiWith(answers: Answer[], timeoutMs = 1_000) {
  const requests: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string | URL | Request, init: RequestInit = {}) => {
    requests.push({ url: String(url), init });
    const answer = answers.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer");
    return typeof answer === "function" ? answer(String(url), init) : answer;
  };
  const options = { url: "https://example.com/", spreadsheet: "id", getToken: () => "secret" };
  return { api: new Api({ ...options, fetch, timeoutMs, random: () => 0 }), requests };
}

const SHEETS = { sheets: [{ sheet: 0, name: "S", extent: { rows: 1, columns: 1 } }], next_sheet: 1, position: 3, incarnation: 0 };

describe("requests", () => {
  it("carry the token in a header only", async () => {
    const { api, requests } = apiWith([json(SHEETS)]);
    await api.sheets(7);
    expect(requests[0]?.url).toBe("https://example.com/v1/spreadsheets/id/sheets?at=7");
    expect(requests[0]?.init.headers).toMatchObject({ authorization: "Bearer secret" });
    expect(requests[0]?.init).toMatchObject({ credentials: "omit", cache: "no-store" });
  });

  it("are repeated after failures that pass", async () => {
    const unavailable = json({ type: "urn:cellar:problem:unavailable", status: 503, detail: "wait" }, 503);
    const { api, requests } = apiWith([new Error("reset"), unavailable, json(SHEETS)]);
    expect((await api.sheets()).position).toBe(3);
    expect(requests).toHaveLength(3);
  });

  it("are not repeated by this layer if they append", async () => {
    const { api, requests } = apiWith([new Error("reset"), json({ results: [], head: 1 })]);
    const request = { client_id: "c", incarnation: 0, acked_id: 0, mutations: [] };
    await expect(api.append(request)).rejects.toBeInstanceOf(UnreachableError);
    expect(requests).toHaveLength(1);
  });

  it("fail with the problem of the server", async () => {
    const gap = { type: "urn:cellar:problem:mutation-gap", status: 409, title: "Gap", detail: "id 4 after 2" };
    const error = await apiWith([json(gap, 409)]).api.sheets().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ problem: "mutation-gap", status: 409, detail: "id 4 after 2" });
    const page = await apiWith([new Response("<html>", { status: 404 })]).api.sheets().catch((e: unknown) => e);
    expect(page).toMatchObject({ problem: "unknown", status: 404 });
  });

  it("end at their timeout and when they are aborted", async () => {
    const never = (_: string, init: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        const end = () => reject(new Error("aborted"));
        if (init.signal?.aborted === true) end();
        init.signal?.addEventListener("abort", end);
      });
    const timedOut = apiWith([never], 5).api.head();
    await expect(timedOut).rejects.toBeInstanceOf(UnreachableError);
    const controller = new AbortController();
    const aborted = apiWith([never]).api.sheets(undefined, controller.signal);
    controller.abort();
    await expect(aborted).rejects.toBeInstanceOf(AbortedError);
  });

  it("remember the head for a reply of 304", async () => {
    const { api, requests } = apiWith([
      json({ head: 5, incarnation: 1 }, 200, { etag: '"5"' }),
      new Response(null, { status: 304 }),
    ]);
    await api.head();
    expect(await api.head()).toEqual({ head: 5, incarnation: 1 });
    expect(requests[1]?.init.headers).toMatchObject({ "if-none-match": '"5"' });
    await expect(apiWith([new Response(null, { status: 304 })]).api.head()).rejects.toThrow(MalformedReply);
  });
});

describe("pages of cells", () => {
  const range = { firstRow: 0, rowCount: 2, firstColumn: 0, columnCount: 2 };
  const page = (position: number, next?: string) =>
    json({ cells: [], extent: { rows: 1, columns: 1 }, position, incarnation: 0, sheet: 0, next });

  it("are read at one position", async () => {
    const { api, requests } = apiWith([page(4, "A2"), page(4)]);
    expect((await api.cells({ sheet: "S", range, at: 4 })).next).toBeUndefined();
    expect(requests[1]?.url).toContain("cursor=A2");
  });

  it("of two states are refused, and so is a list without an end", async () => {
    await expect(apiWith([page(4, "A2"), page(5)]).api.cells({ sheet: "S", range, at: 4 })).rejects.toThrow(
      MalformedReply,
    );
    const endless = apiWith(Array.from({ length: 99 }, () => page(4, "A2")));
    await expect(endless.api.cells({ sheet: "S", range, at: 4 })).rejects.toThrow("too many pages");
  });
});

describe("hostile replies", () => {
  const bodies: unknown[] = [
    null,
    [],
    "text",
    7,
    {},
    { sheets: {} },
    { ...SHEETS, position: -1 },
    { ...SHEETS, position: 1e300 },
    { ...SHEETS, position: "3" },
    { ...SHEETS, position: 1.5 },
    { ...SHEETS, sheets: [{ sheet: 0, name: 4, extent: { rows: 1, columns: 1 } }] },
    { ...SHEETS, sheets: [{ sheet: 0, name: "S", extent: { rows: 2 ** 31, columns: 1 } }] },
  ];
  it.each(bodies)("are a MalformedReply: %j", async (body) => {
    await expect(apiWith([json(body)]).api.sheets()).rejects.toBeInstanceOf(MalformedReply);
  });

  it("that are not JSON are a MalformedReply", async () => {
    await expect(apiWith([new Response("{")]).api.sheets()).rejects.toBeInstanceOf(MalformedReply);
  });
});

describe("names", () => {
  it("of columns and ranges are those of A1", () => {
    const names = [0, 25, 26, 701, 702, 2 ** 22 - 1].map(columnName);
    expect(names).toEqual(["A", "Z", "AA", "ZZ", "AAA", "IDPOJ"]);
    const range = { firstRow: 9, rowCount: 1, firstColumn: 1, columnCount: 3 };
    expect(rangeText(range)).toBe("B10:D10");
  });
});

describe("polling", () => {
  const delays = (events: PollEvent[], random: number) => {
    let polling = NEW_POLLING;
    return events.map((event) => {
      const [next, delayMs] = stepPolling(polling, event, () => random);
      polling = next;
      return delayMs;
    });
  };

  it("doubles its interval until there is activity, as the Rust client does", () => {
    const quiet: PollEvent[] = Array.from({ length: 7 }, () => "quiet");
    const expected = [1, 2, 4, 8, 16, 32, 60, 60, 1].map((seconds) => seconds * 1_000);
    expect(delays(["active", ...quiet, "active"], 0.9)).toEqual(expected);
  });

  it("backs off with jitter, and resumes its interval", () => {
    expect(delays(["quiet", "quiet", "failed", "failed", "quiet"], 0)).toEqual([1_000, 2_000, 1_000, 1_000, 4_000]);
    const longest = delays(Array.from({ length: 9 }, () => "failed"), 0.999_999);
    expect(Math.max(...longest)).toBeLessThanOrEqual(60_000);
  });
});
