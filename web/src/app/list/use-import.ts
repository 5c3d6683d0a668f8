/** Imports one file at a time, and can cancel it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { isTransient, UnreachableError } from "../../data/api-error";
import type { StackClient } from "../../stack/http";
import { leaveNotice } from "../notice";
import { problemText } from "../problem-text";
import { formatRoute } from "../routes";
import type { ShownProgress } from "./import-file";

export interface RunningImport {
  fileName: string;
  progress: ShownProgress;
  isCancelled: boolean;
}

export interface UsedImport {
  running: RunningImport | null;
  /** What became of the last import, if it made no spreadsheet. */
  message: string;
  /** The command that imports the file, if the page cannot. */
  command: string | undefined;
  /** Present if the last import may succeed when it is tried again. It then continues where it stopped. */
  retry: (() => void) | undefined;
  start: (files: FileList | null | undefined) => void;
  cancel: () => void;
  closeMessage: () => void;
}

export function useImport(stack: StackClient): UsedImport {
  const [running, setRunning] = useState<RunningImport | null>(null);
  const [outcome, setOutcome] = useState<{ message: string; command?: string | undefined; retry?: File }>({ message: "" });
  const end = useRef<AbortController | null>(null);
  // Who leaves the list wants something else.
  useEffect(() => () => end.current?.abort(), []);
  const run = async (file: File) => {
    if (end.current !== null) return;
    const controller = new AbortController();
    end.current = controller;
    setOutcome({ message: "" });
    setRunning({ fileName: file.name, progress: { text: "Starting" }, isCancelled: false });
    const progress = (next: ShownProgress) => setRunning((before) => before && { ...before, progress: next });
    const ended = (message: string, command?: string) => setOutcome({ message, command });
    try {
      const { importFile } = await import("./import-file");
      const imported = await importFile(file, stack, { signal: controller.signal, progress, ended });
      if (imported !== null) show(imported);
    } catch (error) {
      const why = error instanceof UnreachableError ? "The stack does not respond." : problemText(error).detail;
      const message = `The file was not imported. ${why}`;
      setOutcome(isTransient(error) ? { message, retry: file } : { message });
    } finally {
      end.current = null;
      setRunning(null);
    }
  };
  const start: UsedImport["start"] = (files) => {
    const file = files?.[0];
    if (file === undefined) return;
    if (files?.length === 1) void run(file);
    else setOutcome({ message: `Choose one file, not ${files?.length}: each becomes a spreadsheet of its own.` });
  };
  const cancel = () => {
    end.current?.abort();
    setRunning((before) => before && { ...before, isCancelled: true });
  };
  const { message, command, retry } = outcome;
  return { running, message, command, start, cancel, retry: retry && (() => void run(retry)), closeMessage: () => setOutcome({ message: "" }) };
}

function show({ id, notes }: { id: string; notes: readonly string[] }): void {
  leaveNotice(notes.join(" "));
  location.hash = formatRoute({ kind: "sheet", id });
}
