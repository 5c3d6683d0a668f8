/** Imports a file that is dropped on the page or chosen. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { StackClient } from "../../stack/http";
import { Toast } from "../ui/toast";
import { ImportDialog } from "./import-dialog";
import { useImport } from "./use-import";

interface ImportAreaProps {
  stack: StackClient;
  children: (chooseFile: () => void) => ComponentChildren;
}

export function ImportArea({ stack, children }: ImportAreaProps) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const { running, message, command, retry, start, cancel, closeMessage } = useImport(stack);
  const handleDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    start(event.dataTransfer?.files);
  };
  const handleOver = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    setOver(true);
  };
  const handleChoice = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    start(currentTarget.files);
    // So that the same file can be chosen again.
    currentTarget.value = "";
  };
  return (
    <div class={isOver ? "screen drop-target" : "screen"} onDragOver={handleOver} onDragLeave={() => setOver(false)} onDrop={handleDrop}>
      {children(() => input.current?.click())}
      <input ref={input} type="file" hidden accept=".csv,.tsv,.txt" aria-label="File to import" onChange={handleChoice} />
      {running === null ? null : <ImportDialog {...running} cancel={cancel} />}
      <Toast text={message} command={command} close={closeMessage} {...(retry === undefined ? {} : { action: { label: "Try again", run: retry } })} />
    </div>
  );
}
