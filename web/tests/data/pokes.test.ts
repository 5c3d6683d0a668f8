import { describe, expect, it } from "vitest";
import { Api } from "../../src/data/api";
import { PokeStream, readPokes } from "../../src/data/pokes";
import { until } from "./server";

const event = (head: number) => `data: {"spreadsheet":"4b74c877-c40f-8d75-966e-04fce373d865","head":${head}}\n\n`;

describe("pokes", () => {
  it("are read however the stream is divided", () => {
    const stream = `:\n\n${event(7)}data: {}\n\nretry: 5\n\n${event(8)}data: {"head":1e400}\n\n${event(9)}data: {"head`;
    for (const size of [1, 3, 17, stream.length]) {
      const heads: number[] = [];
      let text = "";
      for (let first = 0; first < stream.length; first += size) {
        const read = readPokes(text + stream.slice(first, first + size));
        heads.push(...read.heads);
        text = read.rest;
      }
      expect([size, ...heads]).toEqual([size, 7, 8, 9]);
      expect(text).toBe('data: {"head');
    }
  });

  function followed(reply: () => Response | Promise<Response>) {
    const seen = { requests: 0, hints: 0, heads: [] as number[], token: "" };
    const api = new Api({
      url: "https://example.com",
      spreadsheet: "s",
      getToken: () => "secret",
      fetch: async (url, init) => {
        seen.requests += 1;
        seen.token = String(url).includes("secret") ? "in the URL" : (init?.headers as Record<string, string>)["authorization"] ?? "";
        return reply();
      },
    });
    const stream = new PokeStream(api, () => 0, (head) => seen.heads.push(head) > 1);
    return { seen, end: stream.start(() => (seen.hints += 1)) };
  }

  it("hint at news only, and follow again when the stream ends", async () => {
    let head = 3;
    const { seen, end } = followed(() => new Response(event((head += 1))));
    await until(() => seen.requests === 2, "the stream is followed again");
    await until(() => seen.hints === 1);
    expect(seen).toMatchObject({ heads: [4, 5], token: "Bearer secret" });
    end();
    const { requests } = seen;
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(seen.requests).toBe(requests);
  });

  it("are not asked for again where the stack has none", async () => {
    const { seen, end } = followed(() => new Response("{}", { status: 404 }));
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(seen).toMatchObject({ requests: 1, hints: 0 });
    end();
  });
});
