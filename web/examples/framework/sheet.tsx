import "@cellar/grid";
import type { CellarGrid } from "@cellar/grid";
import { openSheet, type OpenedSheet } from "@cellar/grid/data";
import { useEffect, useRef, useState } from "preact/hooks";

// The bundler of this example does not copy the worker that reads large sheets.
const chunkWorkerUrl = new URL("../lib/chunk-worker.js", import.meta.url);

export interface SheetProps {
  url: string;
  spreadsheet: string;
  token: string;
}

/** A sheet in a Preact application: opened when it is shown, and closed when it is removed. */
export function Sheet({ url, spreadsheet, token }: SheetProps) {
  const grid = useRef<CellarGrid>(null);
  const [waiting, setWaiting] = useState(0);

  useEffect(() => {
    let sheet: OpenedSheet | undefined;
    let isRemoved = false;
    const open = async () => {
      const opened = await openSheet({ url, spreadsheet, getToken: () => token, chunkWorkerUrl });
      if (isRemoved) return opened.close();
      sheet = opened;
      sheet.subscribe(() => setWaiting(opened.status.pending));
      if (grid.current) grid.current.source = sheet;
    };
    void open();
    return () => {
      isRemoved = true;
      sheet?.close();
    };
  }, [url, spreadsheet, token]);

  return (
    <main>
      <p role="status">{waiting === 0 ? "All edits are saved" : `${waiting} edits wait`}</p>
      <cellar-grid ref={grid} />
    </main>
  );
}
