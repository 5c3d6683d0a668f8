/** Saves a file: piece by piece where the browser can, otherwise from memory. */

import { BlobSink, type Sink } from "../../stack/export";

export interface Target {
  write: Sink;
  close(): Promise<void>;
  abort(): Promise<void>;
}

type ShowPicker = (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;

/** Returns null if the user chose no file. */
export async function openTarget(nameOf: () => Promise<string>, extension: string): Promise<Target | null> {
  const { showSaveFilePicker } = globalThis as { showSaveFilePicker?: ShowPicker };
  const name = await nameOf();
  const handle = showSaveFilePicker === undefined ? "refused" : await chosenFile(showSaveFilePicker, name);
  if (handle === "none") return null;
  if (handle === "refused") return memoryTarget(name, extension);
  const stream = await handle.createWritable();
  return {
    write: (bytes) => stream.write(bytes),
    close: () => stream.close(),
    // Until it is closed, the browser keeps the earlier file.
    abort: () => stream.abort().catch(() => undefined),
  };
}

async function chosenFile(show: ShowPicker, suggestedName: string): Promise<FileSystemFileHandle | "none" | "refused"> {
  try {
    return await show.call(globalThis, { suggestedName });
  } catch (error) {
    // A page in a frame of another origin may not ask.
    return error instanceof DOMException && error.name === "AbortError" ? "none" : "refused";
  }
}

function memoryTarget(name: string, extension: string): Target {
  const sink = new BlobSink();
  const close = async () => {
    const url = URL.createObjectURL(sink.blob(extension === "tsv" ? "text/tab-separated-values" : "text/csv"));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    // The browser reads the blob after the click.
    const READ_MS = 10_000;
    setTimeout(() => URL.revokeObjectURL(url), READ_MS);
  };
  return { write: sink.write, close, abort: async () => undefined };
}
