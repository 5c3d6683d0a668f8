/** A short message at the bottom of the screen. */

interface ToastProps {
  text: string;
  close: () => void;
}

export function Toast({ text, close }: ToastProps) {
  return (
    <div class="toast" role="alert" hidden={text === ""}>
      <span>{text}</span>
      <button type="button" class="quiet" onClick={close}>Close</button>
    </div>
  );
}
