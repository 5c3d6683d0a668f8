/** The issuers with which people can sign in to the stack. */

import { fieldsOf, optionalList, textOf } from "../../data/decode";
import { stackUrl } from "../stack-access";

export interface Issuer {
  issuer: string;
  clientId: string;
  name: string;
}

/** Returns no issuers if the stack does not say. */
export async function readIssuers(): Promise<Issuer[]> {
  try {
    const response = await fetch(`${stackUrl()}/v1/config`, { credentials: "omit", cache: "no-cache" });
    if (!response.ok) return [];
    return optionalList(fieldsOf(await response.json(), "the configuration").issuers, "the issuers", decodeIssuer);
  } catch {
    return [];
  }
}

function decodeIssuer(value: unknown): Issuer {
  const fields = fieldsOf(value, "an issuer");
  const issuer = textOf(fields.issuer, "the URL of an issuer");
  const name = typeof fields.name === "string" && fields.name !== "" ? fields.name : new URL(issuer).host;
  return { issuer, clientId: textOf(fields.client_id, "a client id"), name };
}
