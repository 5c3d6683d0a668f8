/** A short message at the bottom of the screen. */

interface ToastProps {
  text: string;
  close: () => void;
  action?: { label: string; run: () => void };
}

export function Toast({ text, close, action }: ToastProps) {
  return (
    <div class="toast" role="alert" hidden={text === ""}>
      <span>{text}</span>
      {action === undefined ? null : <button type="button" class="primary" onClick={action.run}>{action.label}</button>}
      <button type="button" class="quiet" onClick={close}>Close</button>
    </div>
  );
}
