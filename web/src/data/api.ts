/** The requests of the HTTP API that the data layer sends, for one spreadsheet. */

import { cellName } from "../base/sheet";
import * as replies from "./decode-replies";
import { Http, type HttpOptions, type HttpRequest } from "./http";
import { MalformedReply } from "./decode";
import { MAX_PAGES_PER_LOAD } from "./limits";
import type { Range } from "./types";
import type * as wire from "./wire";

export interface AppendRequest {
  client_id: string;
  incarnation: number;
  acked_id: number;
  mutations: wire.SentMutation[];
}

export interface CellsQuery {
  /** By default, the first sheet. */
  sheet?: string;
  range: Range;
  /** By default, the newest position. */
  at?: number;
  signal?: AbortSignal;
}

/** A position, or a position or time as text. */
export type At = number | string;

export class Api {
  readonly #http: Http;
  readonly #path: string;
  #headTag: string | null = null;
  #lastHead: wire.HeadReply | null = null;

  constructor(options: HttpOptions & { spreadsheet: string }) {
    this.#http = new Http(options);
    this.#path = `/spreadsheets/${encodeURIComponent(options.spreadsheet)}`;
  }

  /** Lists the sheets, by default at the newest position. */
  async sheets(at?: At, signal?: AbortSignal): Promise<wire.SheetsReply> {
    return this.get("/sheets", { at }, replies.decodeSheets, signal);
  }

  async details(signal?: AbortSignal): Promise<wire.DetailsReply> {
    return this.get("/details", {}, replies.decodeDetails, signal);
  }

  async entries(after: number, signal?: AbortSignal): Promise<wire.EntriesReply> {
    return this.get("/entries", { after }, replies.decodeEntries, signal);
  }

  /** Returns the newest position. An unchanged one costs the server no body. */
  async head(signal?: AbortSignal): Promise<wire.HeadReply> {
    const headers = this.#headTag === null ? {} : { "if-none-match": this.#headTag };
    const path = `${this.#path}/head`;
    const reply = await this.#http.send({
      path,
      headers,
      repeatable: false,
      decode: replies.decodeHead,
      ...(signal === undefined ? {} : { signal }),
    });
    const head = reply.body ?? this.#lastHead;
    if (head === null) throw new MalformedReply("the server answered 304 to the first request");
    this.#headTag = reply.body === null ? this.#headTag : reply.etag;
    this.#lastHead = head;
    return head;
  }

  /** Streams server-sent events that contain the newest position. */
  pokes(signal: AbortSignal): AsyncGenerator<string> {
    return this.#http.stream(`${this.#path}/pokes`, signal);
  }

  /** Reads all pages of a range at one position. */
  async cells(query: CellsQuery): Promise<wire.CellsReply> {
    let merged: wire.CellsReply | null = null;
    for (let page = 0; page < MAX_PAGES_PER_LOAD; page += 1) {
      const cursor: string | undefined = merged?.next;
      const parameters = { sheet: query.sheet, range: rangeText(query.range), at: query.at, cursor };
      const reply: wire.CellsReply = await this.get("/cells", parameters, replies.decodeCells, query.signal);
      merged = merged === null ? reply : appendPage(merged, reply);
      if (reply.next === undefined) return merged;
    }
    throw new MalformedReply("the cells have too many pages");
  }

  /** Appends mutations. The caller repeats it unchanged until it is answered. */
  async append(request: AppendRequest, signal?: AbortSignal): Promise<wire.AppendReply> {
    return this.post("/entries", request, replies.decodeAppend, signal);
  }

  /** Sends a body once. */
  async post<T>(path: string, body: unknown, decode: (body: unknown) => T, signal?: AbortSignal): Promise<T> {
    const request = { path: this.#path + path, body, decode, repeatable: false };
    const reply = await this.#http.send(signal === undefined ? request : { ...request, signal });
    return present(reply.body);
  }

  /** Sends a request that is not repeated. */
  async once<T>(request: Omit<HttpRequest<T>, "repeatable">): Promise<T> {
    return present((await this.#http.send({ ...request, path: this.#path + request.path, repeatable: false })).body);
  }

  async get<T>(
    path: string,
    query: Record<string, string | number | undefined>,
    decode: (body: unknown) => T,
    signal?: AbortSignal,
  ): Promise<T> {
    const request = { path: this.#path + path, query, decode, repeatable: true };
    const reply = await this.#http.send(signal === undefined ? request : { ...request, signal });
    return present(reply.body);
  }
}

function present<T>(body: T | null): T {
  if (body === null) throw new MalformedReply("the server answered 304 to a request without a tag");
  return body;
}

function appendPage(earlier: wire.CellsReply, page: wire.CellsReply): wire.CellsReply {
  if (page.position !== earlier.position || page.sheet !== earlier.sheet) {
    throw new MalformedReply("a page of cells is of another state than the first page");
  }
  const { formats, extent } = earlier;
  return { ...page, formats, extent, cells: earlier.cells.concat(page.cells) };
}

/** Returns a range such as `A1:T50`. */
export function rangeText({ firstRow, rowCount, firstColumn, columnCount }: Range): string {
  return `${cellName(firstRow, firstColumn)}:${cellName(firstRow + rowCount - 1, firstColumn + columnCount - 1)}`;
}
