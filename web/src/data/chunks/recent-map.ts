/** A map that drops the items that were not used for longest. */
export class RecentMap<T> {
  readonly #items = new Map<string, T>();
  #limit: number;

  constructor(private readonly usualLimit: number) {
    this.#limit = usualLimit;
  }

  get(key: string): T | undefined {
    const item = this.#items.get(key);
    if (item === undefined) return undefined;
    this.#items.delete(key);
    this.#items.set(key, item);
    return item;
  }

  set(key: string, item: T): void {
    this.#items.delete(key);
    this.#items.set(key, item);
    this.#dropOldest();
  }

  /** Lets a reader add items without a loss of those that it uses together with them. */
  makeRoom(count: number): void {
    this.#limit = Math.max(this.usualLimit, this.#items.size + count);
  }

  trim(): void {
    this.#limit = this.usualLimit;
    this.#dropOldest();
  }

  #dropOldest(): void {
    for (const oldest of this.#items.keys()) {
      if (this.#items.size <= this.#limit) break;
      this.#items.delete(oldest);
    }
  }
}
