/** The dialogs that rename, archive, unarchive, delete or undelete a spreadsheet. */

import { useState } from "preact/hooks";
import type { DetailsChange, Spreadsheet } from "../../stack/details";
import { ConfirmDialog } from "../ui/dialog";
import { useAction } from "../ui/hooks";
import { displayName } from "./sort";

export type DetailsCommand = "rename" | "archive" | "unarchive" | "delete" | "undelete";

export interface DetailsDialogProps {
  spreadsheet: Spreadsheet;
  command: DetailsCommand;
  change: (change: DetailsChange) => Promise<void>;
  close: () => void;
}

const EXPLANATIONS: Record<Exclude<DetailsCommand, "rename">, string> = {
  archive: "An archived spreadsheet is read-only. You can unarchive it at any time.",
  unarchive: "Members and share links can edit the spreadsheet again, as far as their roles allow.",
  delete: "The spreadsheet is hidden from all members and share links. Owners can undelete it for 30 days.",
  undelete: "Members and share links get their access back.",
};

const TITLES: Record<DetailsCommand, string> = {
  rename: "Rename",
  archive: "Archive",
  unarchive: "Unarchive",
  delete: "Delete",
  undelete: "Undelete",
};

const CHANGES: Record<Exclude<DetailsCommand, "rename">, DetailsChange> = {
  archive: { status: "archived" },
  unarchive: { status: "active" },
  delete: { status: "deleted" },
  undelete: { status: "active" },
};

export function DetailsDialog({ spreadsheet, command, change, close }: DetailsDialogProps) {
  const [name, setName] = useState(spreadsheet.name);
  const { isRunning, problem, run } = useAction();
  const confirm = () => void run(async () => {
    await change(command === "rename" ? { name: name.trim() } : CHANGES[command]);
    close();
  });
  const title = `${TITLES[command]} “${displayName(spreadsheet.name)}”`;
  return (
    <ConfirmDialog {...{ title, action: TITLES[command], isDangerous: command === "delete", isRunning, problem, confirm, close }}>
      {command === "rename" ? (
        <input aria-label="New name" value={name} required maxLength={256} autofocus onInput={(event) => setName(event.currentTarget.value)} />
      ) : (
        <p>{EXPLANATIONS[command]}</p>
      )}
    </ConfirmDialog>
  );
}
