/** Imports a file that is dropped on the page or chosen. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { StackClient } from "../../stack/http";
import { formatRoute } from "../routes";
import { Problem } from "../ui/dialog";
import { useAction } from "../ui/hooks";

interface ImportAreaProps {
  stack: StackClient;
  children: (chooseFile: () => void) => ComponentChildren;
}

export function ImportArea({ stack, children }: ImportAreaProps) {
  const [isOver, setOver] = useState(false);
  const [progress, setProgress] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { isRunning, problem, run } = useAction();
  const importOne = (file: File | undefined) => {
    if (file === undefined) return;
    void run(async () => {
      setProgress(`Importing ${file.name}…`);
      const { importFile } = await import("./import-file");
      const { id } = await importFile(file, stack, setProgress);
      location.hash = formatRoute({ kind: "sheet", id });
    });
  };
  const handleDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    importOne(event.dataTransfer?.files[0]);
  };
  const handleOver = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <div class={isOver ? "screen drop-target" : "screen"} onDragOver={handleOver} onDragLeave={() => setOver(false)} onDrop={handleDrop}>
      {children(() => input.current?.click())}
      <input ref={input} type="file" hidden accept=".csv,.tsv,.txt,.xlsx" aria-label="File to import" onChange={(event) => importOne(event.currentTarget.files?.[0])} />
      <div class="toast" role="status" hidden={!isRunning}>{progress}</div>
      <div class="toast" hidden={problem === null}><Problem error={problem} /></div>
    </div>
  );
}
