/** Loads the dialogs of a spreadsheet when one is first opened. */

import { useModule } from "../ui/hooks";
import type { DetailsDialogProps } from "./details-dialog";

export type { DetailsCommand } from "./details-dialog";

const load = () => import("./details-dialog");

export function DetailsDialog(props: DetailsDialogProps) {
  const module = useModule(load);
  return module && <module.DetailsDialog {...props} />;
}
