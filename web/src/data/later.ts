type Parts = typeof import("./later-parts");

let loading: Promise<Parts> | null = null;

/** Loads the parts that the first cells do not need. What failed is tried again by the next call. */
export function laterParts(): Promise<Parts> {
  loading ??= import("./later-parts").catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}
