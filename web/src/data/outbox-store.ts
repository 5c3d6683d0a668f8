/**
 * Where edits are stored until the server has answered them: one record per edit. Nothing rewrites
 * the edits of another client, so that tabs cannot erase what others wrote.
 */

import { Database } from "./database";

export interface StoredEdit {
  client: string;
  id: number;
  base: number;
  incarnation: number;
  /** JSON of the operation, sent unchanged at each attempt. */
  op: unknown;
  createdMs: number;
  /** Names the gesture of the user, if it made several edits. They are undone together. */
  group?: string | undefined;
}

/** The entries that one gesture has made. They are undone together. */
export interface Step {
  group: string | undefined;
  positions: readonly number[];
}

/** The client of one tab. Only edits of the same user may be sent with the user's token. */
export interface StoredClient {
  client: string;
  stack: string;
  spreadsheet: string;
  identity: string;
  /** Highest id that may have reached the server. */
  attemptedId: number;
  ackedId: number;
  usedMs: number;
  /** What the newest answers were for, since the rest of the gesture may be sent after a reload. */
  step?: Step | undefined;
}

/** Edits that may have been made but cannot be sent again, kept for the user. */
export interface SetAsideEdit extends StoredEdit {
  stack: string;
  spreadsheet: string;
  identity: string;
  reason: string;
}

export interface OutboxStore {
  /** Stores edits in one transaction. Repeating it has no effect. */
  addEdits(edits: readonly StoredEdit[], client: StoredClient): Promise<void>;
  putClient(client: StoredClient): Promise<void>;
  clients(): Promise<StoredClient[]>;
  editsOf(client: string): Promise<StoredEdit[]>;
  removeEdits(client: string, ids: readonly number[]): Promise<void>;
  setAside(edits: readonly SetAsideEdit[]): Promise<void>;
  setAsideEdits(): Promise<SetAsideEdit[]>;
  removeClient(client: string): Promise<void>;
  close(): void;
}

/** Stores edits in IndexedDB. */
export class IndexedDbStore implements OutboxStore {
  readonly #database: Database;

  constructor(name: string) {
    const edit = ["client", "id"];
    this.#database = new Database(name, { edits: edit, clients: "client", aside: edit });
  }

  addEdits(edits: readonly StoredEdit[], client: StoredClient): Promise<void> {
    return this.#database.write(["edits", "clients"], (store) => {
      for (const edit of edits) store("edits").put(edit);
      store("clients").put(client);
    });
  }

  putClient(client: StoredClient): Promise<void> {
    return this.#database.write(["clients"], (store) => void store("clients").put(client));
  }

  clients(): Promise<StoredClient[]> {
    return this.#database.read<StoredClient[]>("clients", (store) => store.getAll());
  }

  editsOf(client: string): Promise<StoredEdit[]> {
    const range = IDBKeyRange.bound([client, 0], [client, Number.MAX_SAFE_INTEGER]);
    return this.#database.read<StoredEdit[]>("edits", (store) => store.getAll(range));
  }

  removeEdits(client: string, ids: readonly number[]): Promise<void> {
    return this.#database.write(["edits"], (store) => {
      for (const id of ids) store("edits").delete([client, id]);
    });
  }

  /** Copies and removes the edits in one transaction. */
  setAside(edits: readonly SetAsideEdit[]): Promise<void> {
    return this.#database.write(["edits", "aside"], (store) => {
      for (const edit of edits) {
        store("aside").put(edit);
        store("edits").delete([edit.client, edit.id]);
      }
    });
  }

  setAsideEdits(): Promise<SetAsideEdit[]> {
    return this.#database.read<SetAsideEdit[]>("aside", (store) => store.getAll());
  }

  removeClient(client: string): Promise<void> {
    return this.#database.write(["clients"], (store) => void store("clients").delete(client));
  }

  close(): void {
    this.#database.close();
  }
}
