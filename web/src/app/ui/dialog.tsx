/** A modal dialog. Escape and the button "Cancel" close it. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { problemLine } from "../problem-text";

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    const focused = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (focused instanceof HTMLElement) focused.focus();
    };
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    close();
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onCancel={cancel}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What the button does, such as "Delete". */
  action: string;
  isDangerous?: boolean;
  isRunning: boolean;
  problem: unknown;
  confirm: () => void;
  close: () => void;
  children: ComponentChildren;
}

export function ConfirmDialog({ title, action, isDangerous = false, isRunning, problem, confirm, close, children }: ConfirmProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    confirm();
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit}>
        {children}
        <Problem error={problem} />
        <div class="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isRunning}>{action}</button>
        </div>
      </form>
    </Dialog>
  );
}

/** Shows an error in one line, or nothing. */
export function Problem({ error }: { error: unknown }) {
  return <p class="problem" role="alert" hidden={error === null}>{error === null ? "" : problemLine(error)}</p>;
}
