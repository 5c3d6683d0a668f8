/** A short message at the bottom of the screen. */

import { useEffect, useState } from "preact/hooks";
import { copyText } from "./copy-text";

interface ToastProps {
  text: string;
  /** A command for a terminal, shown after the text. */
  command?: string | undefined;
  close: () => void;
  action?: { label: string; run: () => void };
}

export function Toast({ text, command, close, action }: ToastProps) {
  return (
    <div class="toast" role="alert" hidden={text === ""}>
      <span>{text} {command === undefined ? null : <code>{command}</code>}</span>
      {command === undefined ? null : <CopyButton text={command} />}
      {action === undefined ? null : <button type="button" class="primary" onClick={action.run}>{action.label}</button>}
      <button type="button" class="quiet" onClick={close}>Close</button>
    </div>
  );
}

function CopyButton({ text }: { text: string }) {
  const [label, setLabel] = useState("Copy");
  useEffect(() => setLabel("Copy"), [text]);
  const copy = async () => setLabel((await copyText(text)) ? "Copied" : "Not copied");
  return <button type="button" class="primary" onClick={() => void copy()}>{label}</button>;
}
