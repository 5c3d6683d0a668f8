/** Downloads the edits that the server does not have for certain, as JSON. */

import type { OpenedSheet } from "../../data/index";

export async function downloadUnsentEdits(source: OpenedSheet, id: string): Promise<void> {
  const text = JSON.stringify(await source.unsentEdits(), null, 2);
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `unsent-edits-${id}.json`;
  link.click();
  // The browser reads the blob after the click.
  const READ_MS = 10_000;
  setTimeout(() => URL.revokeObjectURL(url), READ_MS);
}
