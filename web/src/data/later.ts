type Parts = typeof import("./later-parts");

let loading: Promise<Parts> | null = null;

/** Loads the parts that the first cells do not need. If that fails, the next call tries again. */
export function laterParts(): Promise<Parts> {
  loading ??= import("./later-parts").catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}
