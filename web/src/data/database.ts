/** A database of the browser, with promises. */

/** An upgrade that another tab blocks would otherwise hang for ever. */
const OPEN_TIMEOUT_MS = 5_000;

export type StoreOf = (name: string) => IDBObjectStore;

export class Database {
  #opened: Promise<IDBDatabase> | null = null;

  constructor(
    private readonly name: string,
    /** The key paths of the object stores. */
    private readonly stores: Readonly<Record<string, string | string[]>>,
  ) {}

  read<T>(store: string, request: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    return this.#withDatabase((database) => resultOf(request(database.transaction(store).objectStore(store))));
  }

  /**
   * Runs `work` in one transaction. Resolves when it is stored. With a durability that is not
   * strict, the last writes may be lost if the power fails.
   */
  write(names: string[], work: (storeOf: StoreOf) => void, durability: IDBTransactionDurability = "strict"): Promise<void> {
    return this.#withDatabase((database) => {
      const transaction = database.transaction(names, "readwrite", { durability });
      return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
        work((name) => transaction.objectStore(name));
      });
    });
  }

  close(): void {
    void this.#opened?.then((database) => database.close()).catch(() => undefined);
    this.#opened = null;
  }

  /** A browser may close a database at any time: it is opened again once. */
  async #withDatabase<T>(use: (database: IDBDatabase) => Promise<T>): Promise<T> {
    try {
      return await use(await this.#open());
    } catch {
      this.close();
      return use(await this.#open());
    }
  }

  #open(): Promise<IDBDatabase> {
    this.#opened ??= new Promise((resolve, reject) => {
      // The version never changes: a newer page must be able to read the edits of an older one.
      const request = indexedDB.open(this.name, 1);
      const timer = setTimeout(() => reject(new Error("the storage of the browser does not respond")), OPEN_TIMEOUT_MS);
      request.onupgradeneeded = () => {
        for (const [name, keyPath] of Object.entries(this.stores)) request.result.createObjectStore(name, { keyPath });
      };
      request.onerror = () => {
        clearTimeout(timer);
        reject(request.error);
      };
      request.onsuccess = () => {
        clearTimeout(timer);
        // Another tab deletes the database or upgrades it: do not block it.
        request.result.onversionchange = () => this.close();
        request.result.onclose = () => (this.#opened = null);
        resolve(request.result);
      };
    });
    return this.#opened;
  }
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
