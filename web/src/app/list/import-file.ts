/** Imports a file, in a chunk that is loaded when it is first needed. */

import { importFile as importCells, type Imported } from "../../stack/import";
import type { StackClient } from "../../stack/http";

export function importFile(file: File, stack: StackClient, progress: (text: string) => void): Promise<Imported> {
  return importCells(file, stack, ({ step, done, total }) => {
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    progress(`${step === "reading" ? "Reading" : "Sending"} ${file.name}: ${percent} %`);
  });
}
