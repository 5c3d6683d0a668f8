/** Imports a file that is dropped on the page or chosen. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { StackClient } from "../../stack/http";
import { leaveNotice } from "../notice";
import { problemText } from "../problem-text";
import { formatRoute } from "../routes";
import { useAction } from "../ui/hooks";
import { Toast } from "../ui/toast";

interface ImportAreaProps {
  stack: StackClient;
  children: (chooseFile: () => void) => ComponentChildren;
}

export function ImportArea({ stack, children }: ImportAreaProps) {
  const [isOver, setOver] = useState(false);
  const [progress, setProgress] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { isRunning, problem, run, reset } = useAction();
  const importOne = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file === undefined) return;
    void run(async () => {
      if (files?.length !== 1) throw new Error(`choose one file, not ${files?.length}; each becomes a spreadsheet of its own`);
      setProgress(`Importing ${file.name}…`);
      const { importFile } = await import("./import-file");
      const { id, notes } = await importFile(file, stack, setProgress);
      leaveNotice(notes.join(" "));
      location.hash = formatRoute({ kind: "sheet", id });
    });
  };
  const handleDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    importOne(event.dataTransfer?.files);
  };
  const handleOver = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <div class={isOver ? "screen drop-target" : "screen"} onDragOver={handleOver} onDragLeave={() => setOver(false)} onDrop={handleDrop}>
      {children(() => input.current?.click())}
      <input ref={input} type="file" hidden accept=".csv,.tsv,.txt" aria-label="File to import" onChange={(event) => importOne(event.currentTarget.files)} />
      <div class="toast" role="status" hidden={!isRunning}>{progress}</div>
      <Toast text={problem === null ? "" : `The file was not imported. ${problemText(problem).detail}`} close={reset} />
    </div>
  );
}
