/** Parts that all panels have. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { messageOfError } from "./message";
import { usePanelStyle } from "./style";

interface PanelFrameProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

export function PanelFrame({ title, close, children }: PanelFrameProps) {
  usePanelStyle();
  return (
    <div class="panel-frame">
      <header class="panel-head">
        <h2>{title}</h2>
        <button type="button" class="panel-close" aria-label={`Close ${title}`} onClick={close}>✕</button>
      </header>
      <div class="panel-body">{children}</div>
    </div>
  );
}

interface StateProps {
  isLoading: boolean;
  error: unknown;
  retry: () => void;
}

/** Says that something is loading or failed. Screen readers hear both. */
export function LoadState({ isLoading, error, retry }: StateProps) {
  const hasFailed = error !== null && !isLoading;
  return (
    <>
      <p class="panel-muted" role="status">{isLoading ? "Loading…" : ""}</p>
      {hasFailed ? (
        <div class="panel-problem" role="alert">
          <p>{messageOfError(error)}</p>
          <button type="button" onClick={retry}>Try again</button>
        </div>
      ) : null}
    </>
  );
}

export function ActionProblem({ error }: { error: unknown }) {
  return error === null ? null : <p class="panel-problem" role="alert">{messageOfError(error)}</p>;
}

/** Tells what was done. It is always there, so that screen readers hear its changes. */
export function Done({ children }: { children: ComponentChildren }) {
  const element = useRef<HTMLDivElement>(null);
  // The button that did it may be gone, and keys would not reach the panel any more.
  useEffect(() => {
    if (document.activeElement === document.body && element.current?.textContent !== "") element.current?.focus();
  }, [children]);
  return <div ref={element} class="panel-done" role="status" tabIndex={-1}>{children}</div>;
}

export function OfflineNote({ isOnline }: { isOnline: boolean }) {
  if (isOnline) return null;
  return <p class="panel-note" role="status">You are offline. This panel shows what was loaded before, and needs the network to change anything.</p>;
}

interface ConfirmButtonProps {
  label: string;
  /** What a screen reader says, if the label alone is not clear. */
  name?: string;
  question: string;
  /** Label of the button that does it. */
  action: string;
  isDisabled?: boolean;
  isDangerous?: boolean;
  confirm: () => void;
}

/** A button that asks in its place before it acts. */
export function ConfirmButton({ label, name, question, action, isDisabled = false, isDangerous = true, confirm }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const ask = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);
  const id = useId();
  // Before the next key: it belongs to the question.
  useLayoutEffect(() => {
    if (isAsking) cancel.current?.focus();
    else if (wasAsking.current) ask.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    setAsking(false);
  };
  if (!isAsking) {
    return <button ref={ask} type="button" aria-label={name} disabled={isDisabled} onClick={() => setAsking(true)}>{label}</button>;
  }
  const act = () => {
    setAsking(false);
    confirm();
  };
  return (
    <span class="panel-confirm" role="group" aria-labelledby={id} onKeyDown={handleKey}>
      <span id={id}>{question}</span>
      <button ref={cancel} type="button" onClick={() => setAsking(false)}>Cancel</button>
      <button type="button" class={isDangerous ? "danger" : "primary"} onClick={act}>{action}</button>
    </span>
  );
}
