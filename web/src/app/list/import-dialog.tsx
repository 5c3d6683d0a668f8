/** Shows the progress of an import. "Cancel" and Escape end it. */

import { Dialog } from "../ui/dialog";
import type { ShownProgress } from "./import-file";

interface ImportDialogProps {
  fileName: string;
  progress: ShownProgress;
  isCancelled: boolean;
  cancel: () => void;
}

export function ImportDialog({ fileName, progress: { text, share }, isCancelled, cancel }: ImportDialogProps) {
  // A screen reader hears the step, not each percent.
  const shown = isCancelled ? "Cancelling…" : text;
  const percent = share === undefined || isCancelled ? undefined : Math.floor(share * 100);
  return (
    <Dialog title={`Import of ${fileName}`} close={cancel}>
      <p role="status">{shown}</p>
      <div class="field">
        <progress aria-label="Progress of the import" max={100} {...(percent === undefined ? {} : { value: percent })} />
        <span class="percent" aria-hidden="true">{percent === undefined ? "" : `${percent} %`}</span>
      </div>
      <div class="actions">
        <button type="button" disabled={isCancelled} onClick={cancel}>Cancel</button>
      </div>
    </Dialog>
  );
}
