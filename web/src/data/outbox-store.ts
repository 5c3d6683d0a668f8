/**
 * Where edits are stored until the server has answered them: one record per edit. Nothing rewrites
 * the edits of another client, so that tabs cannot erase what others wrote.
 */

import { openDB, type DBSchema, type IDBPDatabase } from "idb";

export interface StoredEdit {
  client: string;
  id: number;
  base: number;
  incarnation: number;
  /** JSON of the operation, sent unchanged at each attempt. */
  op: unknown;
  createdMs: number;
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

interface Schema extends DBSchema {
  edits: { key: [string, number]; value: StoredEdit };
  clients: { key: string; value: StoredClient };
  aside: { key: [string, number]; value: SetAsideEdit };
}

type StoreName = "edits" | "clients" | "aside";

/** The version never changes: a newer page must be able to read the edits of an older one. */
const VERSION = 1;
const OPEN_TIMEOUT_MS = 5_000;

export class IndexedDbStore implements OutboxStore {
  #database: Promise<IDBPDatabase<Schema>> | null = null;

  constructor(private readonly name: string) {}

  addEdits(edits: readonly StoredEdit[], client: StoredClient): Promise<void> {
    return this.#write(["edits", "clients"], async (store) => {
      await Promise.all([...edits.map((edit) => store("edits").put(edit)), store("clients").put(client)]);
    });
  }

  putClient(client: StoredClient): Promise<void> {
    return this.#write(["clients"], async (store) => void (await store("clients").put(client)));
  }

  clients(): Promise<StoredClient[]> {
    return this.#withDatabase((database) => database.getAll("clients"));
  }

  editsOf(client: string): Promise<StoredEdit[]> {
    const range = IDBKeyRange.bound([client, 0], [client, Number.MAX_SAFE_INTEGER]);
    return this.#withDatabase((database) => database.getAll("edits", range));
  }

  removeEdits(client: string, ids: readonly number[]): Promise<void> {
    return this.#write(["edits"], async (store) => {
      await Promise.all(ids.map((id) => store("edits").delete([client, id])));
    });
  }

  /** Copies and removes the edits in one transaction. */
  setAside(edits: readonly SetAsideEdit[]): Promise<void> {
    return this.#write(["edits", "aside"], async (store) => {
      const moves = edits.flatMap((edit) => [
        store("aside").put(edit),
        store("edits").delete([edit.client, edit.id]),
      ]);
      await Promise.all(moves);
    });
  }

  setAsideEdits(): Promise<SetAsideEdit[]> {
    return this.#withDatabase((database) => database.getAll("aside"));
  }

  removeClient(client: string): Promise<void> {
    return this.#write(["clients"], (store) => store("clients").delete(client));
  }

  close(): void {
    void this.#database?.then((database) => database.close()).catch(() => undefined);
    this.#database = null;
  }

  #write(
    names: StoreName[],
    work: (store: <N extends StoreName>(name: N) => WritableStore<N>) => Promise<void>,
  ): Promise<void> {
    return this.#withDatabase(async (database) => {
      // The default of browsers may lose the last writes if the power fails.
      const transaction = database.transaction(names, "readwrite", { durability: "strict" });
      // A failed commit is reported by `done` only, so both must be awaited.
      const worked = work((name) => transaction.objectStore(name) as never);
      await Promise.all([worked, transaction.done]);
    });
  }

  /** A browser may close a database at any time: it is opened again once. */
  async #withDatabase<T>(use: (database: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    try {
      return await use(await this.#open());
    } catch {
      this.close();
      return use(await this.#open());
    }
  }

  #open(): Promise<IDBPDatabase<Schema>> {
    this.#database ??= withTimeout(this.#openDatabase());
    return this.#database;
  }

  #openDatabase(): Promise<IDBPDatabase<Schema>> {
    return openDB<Schema>(this.name, VERSION, {
      upgrade(database) {
        database.createObjectStore("edits", { keyPath: ["client", "id"] });
        database.createObjectStore("clients", { keyPath: "client" });
        database.createObjectStore("aside", { keyPath: ["client", "id"] });
      },
      // Another tab deletes the database or upgrades it: do not block it.
      blocking: () => this.close(),
      terminated: () => {
        this.#database = null;
      },
    });
  }
}

type WritableStore<N extends StoreName> = {
  put(value: Schema[N]["value"]): Promise<unknown>;
  delete(key: Schema[N]["key"]): Promise<void>;
};

/** An upgrade that another tab blocks would otherwise hang for ever. */
function withTimeout<T>(opened: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the storage of the browser does not respond")), OPEN_TIMEOUT_MS);
    opened.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
