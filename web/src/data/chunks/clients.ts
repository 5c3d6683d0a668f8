/** The last mutation of each client. Reading cells does not need it. */

import * as bounds from "./bounds";
import { atMost, malformed } from "./format-error";
import { hexadecimal } from "./hash";
import { CLIENTS, readObject } from "./index-object";
import type { IndexReader } from "./tile-index";

export interface LastMutation {
  /** 16 hexadecimal digits. */
  key: string;
  id: number;
  createdS: number;
  /** Set for clients of a sync group. */
  name?: { group: string; client: string };
}

interface Names {
  indices: number[];
  groups: string[];
  clients: string[];
}

const KEY_BYTES = 8;
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

export function readClients(bytes: Uint8Array): LastMutation[] {
  return readObject(bytes, bounds.MAX_CHUNK_BYTES, (reader, kind) => {
    if (kind !== CLIENTS) throw malformed(`an object of kind ${kind} has no clients`);
    return readFields(reader);
  });
}

function readFields(reader: IndexReader): LastMutation[] {
  const { cbor } = reader;
  const integers = (what: string) => cbor.list(bounds.MAX_CLIENTS, what, () => cbor.integer(MAX_INTEGER, what));
  const found: { keys?: string[]; ids?: number[]; times?: number[]; names?: Names } = {};
  cbor.map({
    0: () => (found.keys = splitKeys(cbor.bytes())),
    1: () => (found.ids = integers("the numbers of mutations")),
    2: () => (found.times = integers("the times of mutations")),
    3: () => (found.names = readNames(reader)),
  });
  const { keys, ids, times, names } = found;
  if (!keys || !ids || !times || ids.length !== keys.length || times.length !== keys.length) {
    throw malformed("the clients have no key, mutation or time each");
  }
  const clients = keys.map((key, index): LastMutation => ({ key, id: ids[index] ?? 0, createdS: times[index] ?? 0 }));
  if (names !== undefined) addNames(clients, names);
  return clients;
}

function splitKeys(bytes: Uint8Array): string[] {
  if (bytes.length % KEY_BYTES !== 0) throw malformed("the last key of a client is too short");
  atMost(bytes.length / KEY_BYTES, bounds.MAX_CLIENTS, "the number of clients");
  const keys: string[] = [];
  for (let at = 0; at < bytes.length; at += KEY_BYTES) {
    const key = hexadecimal(bytes.subarray(at, at + KEY_BYTES));
    if (key <= (keys[keys.length - 1] ?? "")) throw malformed("the keys of clients do not ascend");
    keys.push(key);
  }
  return keys;
}

function readNames({ cbor }: IndexReader): Names {
  const texts = (what: string) => cbor.list(bounds.MAX_CLIENTS, what, () => cbor.text());
  const names: Names = { indices: [], groups: [], clients: [] };
  cbor.map({
    0: () => (names.indices = cbor.list(bounds.MAX_CLIENTS, "named clients", () => cbor.integer(MAX_INTEGER, "a client"))),
    1: () => (names.groups = texts("groups of clients")),
    2: () => (names.clients = texts("ids of clients")),
  });
  return names;
}

function addNames(clients: LastMutation[], { indices, groups, clients: ids }: Names): void {
  if (groups.length !== indices.length || ids.length !== indices.length || indices.length === 0) {
    throw malformed("the named clients have no group and id each");
  }
  let total = 0;
  const byteLength = (text: string) => {
    const { length } = new TextEncoder().encode(text);
    if (length < 1 || length > bounds.MAX_CLIENT_NAME_BYTES) throw malformed(`a name of a client has ${length} bytes`);
    return length;
  };
  let previous = -1;
  indices.forEach((index, at) => {
    const client = clients[index];
    if (client === undefined || index <= previous) throw malformed("the named clients do not ascend or do not exist");
    const name = { group: groups[at] ?? "", client: ids[at] ?? "" };
    total += byteLength(name.group) + byteLength(name.client);
    client.name = name;
    previous = index;
  });
  atMost(total, bounds.MAX_CLIENT_NAMES_BYTES, "the length of the names of clients");
}
