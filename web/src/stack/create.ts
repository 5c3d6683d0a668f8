/** Creates spreadsheets. */

import { fieldsOf, textOf } from "../data/decode";
import type { StackClient } from "./http";

/** Creates an empty spreadsheet. A repeated call with the same nonce returns the same spreadsheet. */
export async function createSpreadsheet(
  stack: StackClient,
  name: string,
  nonce: string = crypto.randomUUID(),
): Promise<{ id: string }> {
  const body = name === "" ? { nonce } : { name, nonce };
  const reply = await stack.send({ path: "/spreadsheets", body, decode: decodeCreated });
  return reply.body;
}

function decodeCreated(value: unknown): { id: string } {
  return { id: textOf(fieldsOf(value, "a created spreadsheet").id, "the id of a spreadsheet") };
}
