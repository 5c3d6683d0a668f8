/** Lists the spreadsheets of the caller. */

import { fieldsOf, listOf, optionalText, withoutAbsent } from "../data/decode";
import { decodeSpreadsheet, type Spreadsheet, type SpreadsheetStatus } from "./details";
import type { StackClient } from "./http";

export interface ListQuery {
  status?: SpreadsheetStatus;
  /** Part of the name, in upper or lower case. */
  name?: string;
  cursor?: string | undefined;
  signal?: AbortSignal;
}

export interface SpreadsheetsPage {
  spreadsheets: Spreadsheet[];
  next?: string;
}

const PAGE_SIZE = 50;
/** A list of 1,000 spreadsheets; a longer one is continued on request. */
const MAX_PAGES = 20;

async function readPage(stack: StackClient, { signal, ...query }: ListQuery): Promise<SpreadsheetsPage> {
  const reply = await stack.send({
    path: "/spreadsheets",
    query: { ...query, limit: PAGE_SIZE },
    decode: decodePage,
    signal,
  });
  return reply.body;
}

function decodePage(value: unknown): SpreadsheetsPage {
  const fields = fieldsOf(value, "a list of spreadsheets");
  return withoutAbsent<SpreadsheetsPage>({
    spreadsheets: listOf(fields.spreadsheets, "the spreadsheets", decodeSpreadsheet),
    next: optionalText(fields.next, "a cursor"),
  });
}

/** Reads pages until the list ends or is long. Calls `onPage` after each page with the list so far. */
export async function listSpreadsheets(
  stack: StackClient,
  query: ListQuery,
  onPage: (page: SpreadsheetsPage) => void = () => undefined,
): Promise<SpreadsheetsPage> {
  let list: SpreadsheetsPage = { spreadsheets: [] };
  let { cursor } = query;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { spreadsheets, next } = await readPage(stack, { ...query, cursor });
    list = withoutAbsent<SpreadsheetsPage>({ spreadsheets: list.spreadsheets.concat(spreadsheets), next });
    onPage(list);
    if (next === undefined) return list;
    cursor = next;
  }
  return list;
}
