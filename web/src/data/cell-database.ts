/**
 * The last cells that were shown of each spreadsheet, in IndexedDB, by stack, identity and
 * spreadsheet. A failure only loses what is stored.
 */

import { Database, type StoreOf } from "./database";
import { CELL_DATABASE } from "./forget-cells";
import { bytesOf, mergedRecord, type StateRecord } from "./kept-cells";
import { MAX_STORED_BYTES, MAX_STORED_SPREADSHEETS } from "./limits";

/** What is known of a state without reading its cells. */
interface Usage {
  key: string[];
  usedMs: number;
  bytes: number;
}

export class CellDatabase {
  readonly #database = new Database(CELL_DATABASE, { states: "key", usage: "key" });

  constructor(
    private readonly maxBytes = MAX_STORED_BYTES,
    private readonly maxSpreadsheets = MAX_STORED_SPREADSHEETS,
  ) {}

  read(key: string[]): Promise<unknown> {
    return this.#database.read<unknown>("states", (store) => store.get(key));
  }

  /** Stores a state, unless another tab stored a later one. Removes the least recently used ones above the limits. */
  write(record: StateRecord, usedMs: number): Promise<void> {
    return this.#write((store) => {
      const all = store("usage").getAll() as IDBRequest<Usage[]>;
      // Requests of a transaction succeed in their order.
      const existing = store("states").get(record.key) as IDBRequest<StateRecord | undefined>;
      existing.onsuccess = () => {
        const merged = mergedRecord(record, existing.result);
        const others = all.result.filter(({ key }) => indexedDB.cmp(key, record.key) !== 0);
        if (merged !== null) this.#put(store, merged, usedMs, others);
      };
    });
  }

  #put(store: StoreOf, record: StateRecord, usedMs: number, others: readonly Usage[]): void {
    const { key } = record;
    const bytes = record.blocks.reduce((sum, block) => sum + bytesOf(block), 0);
    store("states").put(record);
    store("usage").put({ key, usedMs, bytes });
    let [total, count] = [bytes, 1];
    for (const other of [...others].sort((left, right) => right.usedMs - left.usedMs)) {
      [total, count] = [total + other.bytes, count + 1];
      if (total > this.maxBytes || count > this.maxSpreadsheets) remove(store, other.key);
    }
  }

  forget(key: string[]): Promise<void> {
    return this.#write((store) => remove(store, key));
  }

  #write(work: (store: StoreOf) => void): Promise<void> {
    return this.#database.write(["states", "usage"], work, "relaxed");
  }

  close(): void {
    this.#database.close();
  }
}

function remove(store: StoreOf, key: string[]): void {
  for (const name of ["states", "usage"]) store(name).delete(key);
}
