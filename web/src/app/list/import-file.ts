/** Imports a file, in a chunk that is loaded when it is first needed. */

import { importFile as importCells, ImportCancelled, ImportError, type Imported, type ImportProgress } from "../../stack/import";
import type { StackClient } from "../../stack/http";

export interface ShownProgress {
  text: string;
  /** From 0 to 1. Absent while it is not known. */
  share?: number;
}

/**
 * Returns null and calls `ended`: with what is left if the signal ends the import, or with the command
 * that imports the file if the page cannot.
 */
export async function importFile(
  file: File,
  stack: StackClient,
  { signal, progress, ended }: { signal: AbortSignal; progress: (progress: ShownProgress) => void; ended: (message: string, command?: string) => void },
): Promise<Imported | null> {
  try {
    return await importCells(file, stack, (step) => progress(shownProgress(step)), { signal });
  } catch (error) {
    if (error instanceof ImportCancelled) ended(error.message);
    else if (error instanceof ImportError && error.command !== undefined) ended(error.text, error.command);
    else throw error;
    return null;
  }
}

function shownProgress({ step, done, total }: ImportProgress): ShownProgress {
  if (step === "preparing") return { text: "All cells are sent. The stack prepares the spreadsheet for reading." };
  const share = total === 0 ? 1 : done / total;
  if (step === "reading") return { text: "Reading the file", share };
  return { text: `Sending ${total.toLocaleString("en-US")} ${total === 1 ? "cell" : "cells"}`, share };
}
