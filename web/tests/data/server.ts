/** A server in memory that numbers entries, drops repeated mutations and refuses gaps. */

import { decodeOperation } from "../../src/data/decode-operation";
import { Viewpoint, type Change } from "../../src/data/viewpoint";
import { movesCells, transform } from "../../src/data/space-map";
import { operationToJson, type Operation } from "../../src/data/wire";

export interface FakeMutation {
  id: number;
  base: number;
  op: Record<string, unknown>;
}

export class FakeServer {
  entries: Record<string, unknown>[] = [{ position: 0, kind: "snapshot", created_s: 0 }];
  readonly requests: string[] = [];
  /** Answers instead of the server: a status, a lost reply after the work, or a body. */
  faults: (("lost" | "down") | { status: number; type: string } | { body: unknown })[] = [];
  incarnation = 0;
  role = "editor";
  status = "active";
  sheets = [{ sheet: 0, name: "S", extent: { rows: 1_000, columns: 100 } }];
  cells: (query: URLSearchParams) => unknown[] = () => [];
  readonly #lastIds = new Map<string, { id: number; positions: Map<number, number> }>();

  get head(): number {
    return this.entries.length - 1;
  }

  readonly fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams } = new URL(String(url));
    const route = `${init.method ?? "GET"} ${pathname.split("/").pop()}`;
    this.requests.push(route);
    const fault = this.faults.shift();
    if (fault === "down") throw new TypeError("connection refused");
    if (typeof fault === "object" && "body" in fault) return json(fault.body);
    if (typeof fault === "object") return problem(fault.status, fault.type);
    const response = this.#answer(route, searchParams, String(init.body ?? "null"));
    if (fault === "lost") throw new TypeError("connection reset");
    return response;
  };

  #answer(route: string, query: URLSearchParams, body: string): Response {
    const { head, incarnation } = this;
    if (route === "GET head") return json({ head, incarnation });
    if (route === "GET details") return json({ role: this.role, status: this.status });
    if (route === "GET sheets") return json({ sheets: this.sheets, next_sheet: this.sheets.length, position: head, incarnation });
    if (route === "GET entries") {
      const after = Number(query.get("after"));
      return json({ entries: this.entries.slice(after + 1), head, incarnation });
    }
    if (route === "GET cells") {
      const position = Number(query.get("at"));
      const extent = this.sheets[0]?.extent;
      return json({ sheet: 0, name: "S", position, incarnation, extent, cells: this.cells(query) });
    }
    if (route === "POST entries") return this.#append(JSON.parse(body));
    return problem(404, "unknown-route");
  }

  /** Commits an edit of another client. */
  commit(op: Record<string, unknown>, clientKey = "00000000000000ff"): number {
    const position = this.entries.length;
    const mutations = [{ id: 1, base: position - 1, op }];
    this.entries.push({ position, kind: "edits", created_s: 0, client_key: clientKey, mutations });
    return position;
  }

  #append(request: { client_id: string; incarnation: number; mutations: FakeMutation[] }): Response {
    if (request.incarnation !== this.incarnation) return problem(410, "reload-required");
    const known = this.#lastIds.get(request.client_id) ?? { id: 0, positions: new Map<number, number>() };
    this.#lastIds.set(request.client_id, known);
    const results = [];
    for (const { id, base, op } of request.mutations) {
      if (id > known.id + 1) return problem(409, "mutation-gap");
      const status = id <= known.id ? "duplicate" : "appended";
      if (status === "appended") {
        const position = this.entries.length;
        const key = [...request.client_id].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 2 ** 40, 7);
        const client_key = key.toString(16).padStart(16, "0");
        const mutation = { id, base, op, ...this.#committed(request.client_id, position, base, op) };
        this.entries.push({ position, kind: "edits", created_s: 0, client_key, mutations: [mutation] });
        known.positions.set(id, position);
        known.id = id;
      }
      results.push({ id, status, position: known.positions.get(id) });
    }
    return json({ results, head: this.head, entries: [] });
  }

  /** Commits of all clients that move rows, for `transforms`. */
  readonly #log: { client: string; change: Change; authored: Operation; base: number }[] = [];
  /** Whether operations are moved past those of others, as the real server does. */
  transforms = false;

  #committed(client: string, position: number, base: number, op: Record<string, unknown>) {
    if (!this.transforms) return {};
    const authored = decodeOperation(op);
    const changes: Change[] = [];
    let lastBase = 0;
    for (const entry of this.#log) {
      if (entry.client === client) lastBase = Math.max(lastBase, entry.base);
      const own = { base: lastBase, authored: entry.authored };
      changes.push(entry.client === client ? { ...entry.change, own } : entry.change);
    }
    const committed = transform(authored, new Viewpoint(changes).mapFrom(base));
    if (movesCells(authored)) this.#log.push({ client, base, authored, change: { position, committed } });
    return { committed: committed.map(operationToJson) };
  }

  /** The texts of the first column at a position. */
  column(at: number): (string | null)[] {
    let rows: (string | null)[] = Array.from({ length: 1_000 }, () => null);
    for (const entry of this.entries.slice(0, at + 1)) {
      const mutations = (entry.mutations ?? []) as { op: unknown; committed?: unknown[] }[];
      for (const operation of mutations.flatMap(({ op, committed }) => (committed ?? [op]).map(decodeOperation))) {
        if (operation.kind === "setCells") {
          for (const { row, value } of operation.cells) rows[row] = String(value);
        } else if (operation.kind === "insertRows") {
          const blank = Array.from({ length: operation.count }, () => null);
          rows = [...rows.slice(0, operation.before), ...blank, ...rows.slice(operation.before)];
        } else if (operation.kind === "deleteRows") {
          rows = rows.filter((_, row) => !operation.spans.some(({ first, count }) => row >= first && row < first + count));
        }
      }
    }
    return rows;
  }

  /** The operations of all entries, in order. */
  operations(): unknown[] {
    return this.entries.flatMap((entry) => (entry.mutations as FakeMutation[] | undefined) ?? []).map(({ op }) => op);
  }
}

function json(body: unknown): Response {
  return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
}

function problem(status: number, type: string): Response {
  const body = { type: `urn:cellar:problem:${type}`, status, title: type, detail: `because of ${type}` };
  return new Response(JSON.stringify(body), { status });
}

/** Waits until the condition holds. */
export async function until(condition: () => boolean, what = "the condition"): Promise<void> {
  const DEADLINE_MS = 4_000;
  const startMs = Date.now();
  while (!condition()) {
    if (Date.now() - startMs > DEADLINE_MS) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
