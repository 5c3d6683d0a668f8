/** The name of a spreadsheet, which editors and owners change in place. */

import { useEffect, useRef, useState } from "preact/hooks";
import { changeDetails, type Spreadsheet } from "../../stack/details";
import type { StackClient } from "../../stack/http";
import { displayName } from "../list/sort";
import { problemLine } from "../problem-text";
import { useAction } from "../ui/hooks";

interface TitleProps {
  stack: StackClient;
  details: Spreadsheet | null;
  replace: (details: Spreadsheet) => void;
}

export function Title({ stack, details, replace }: TitleProps) {
  const [text, setText] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const { problem, run, reset } = useAction();
  useEffect(() => setText(null), [details]);
  const canRename = details !== null && details.status !== "deleted" && (details.role === "editor" || details.role === "owner");
  if (!canRename) return <h1 class="title">{details === null ? "" : displayName(details.name)}</h1>;
  const commit = () => {
    const name = (text ?? "").trim();
    if (text === null || name === details.name || name === "") return setText(null);
    void run(async () => replace(await changeDetails(stack, details.id, { name })));
  };
  const handleKey = ({ key }: KeyboardEvent) => {
    if (key !== "Enter" && key !== "Escape") return;
    if (key === "Escape") {
      setText(null);
      reset();
    }
    input.current?.blur();
  };
  return (
    <h1 class="title">
      <input
        ref={input} aria-label="Name of the spreadsheet" maxLength={256} spellcheck={false}
        value={text ?? details.name} placeholder={displayName("")} title={problem === null ? details.name : problemLine(problem)}
        aria-invalid={problem !== null} onInput={(event) => setText(event.currentTarget.value)} onBlur={commit} onKeyDown={handleKey}
      />
    </h1>
  );
}
