/** Imports a file, in a chunk that is loaded when it is first needed. */

import { importFile as importCells, ImportCancelled, type Imported, type ImportProgress } from "../../stack/import";
import type { StackClient } from "../../stack/http";

export interface ShownProgress {
  text: string;
  /** From 0 to 1. Absent while it is not known. */
  share?: number;
}

/** Returns null and calls `cancelled` with what is left if the signal ends the import. */
export async function importFile(
  file: File,
  stack: StackClient,
  { signal, progress, cancelled }: { signal: AbortSignal; progress: (progress: ShownProgress) => void; cancelled: (text: string) => void },
): Promise<Imported | null> {
  try {
    return await importCells(file, stack, (step) => progress(shownProgress(step)), { signal });
  } catch (error) {
    if (!(error instanceof ImportCancelled)) throw error;
    cancelled(error.message);
    return null;
  }
}

function shownProgress({ step, done, total }: ImportProgress): ShownProgress {
  if (step === "preparing") return { text: "All cells are sent. The stack prepares the spreadsheet for reading." };
  const share = total === 0 ? 1 : done / total;
  if (step === "reading") return { text: "Reading the file", share };
  return { text: `Sending ${total.toLocaleString("en-US")} ${total === 1 ? "cell" : "cells"}`, share };
}
