/** A row of the list, with the commands of a spreadsheet. */

import { useEffect, useRef, useState } from "preact/hooks";
import { changeDetails, readLastChangeS, type DetailsChange, type Spreadsheet } from "../../stack/details";
import type { StackClient } from "../../stack/http";
import { formatRoute } from "../routes";
import type { StackAccess } from "../stack-access";
import { dateTimeText, recentTimeText } from "../times";
import { Menu, type MenuItem } from "../ui/menu";
import { runLimited } from "./limit";
import { DetailsDialog, type DetailsCommand } from "./lazy-details-dialog";
import { displayName } from "./sort";

interface RowProps {
  access: StackAccess;
  spreadsheet: Spreadsheet;
  /** Names of the listed spreadsheets by id. */
  names: ReadonlyMap<string, string>;
  replace: (spreadsheet: Spreadsheet) => void;
}

export function SpreadsheetRow({ access, spreadsheet, names, replace }: RowProps) {
  const [command, setCommand] = useState<DetailsCommand | null>(null);
  const row = useRef<HTMLTableRowElement>(null);
  const changedS = useLastChange(access.stack, spreadsheet, row);
  const now = Date.now();
  const change = async (details: DetailsChange) => replace(await changeDetails(access.stack, spreadsheet.id, details));
  return (
    <tr ref={row}>
      <th scope="row">
        <Name spreadsheet={spreadsheet} />
        <Source spreadsheet={spreadsheet} names={names} />
      </th>
      <td>{spreadsheet.role}</td>
      <td><Time seconds={spreadsheet.createdS} now={now} prefix="created" /></td>
      <td><Time seconds={changedS} now={now} prefix="changed" /></td>
      <td class="commands">
        <Menu label={`Commands for ${displayName(spreadsheet.name)}`} items={commandsOf(spreadsheet, setCommand)} />
        {command === null ? null : (
          <DetailsDialog spreadsheet={spreadsheet} command={command} change={change} close={() => setCommand(null)} />
        )}
      </td>
    </tr>
  );
}

/** A deleted spreadsheet cannot be opened. */
function Name({ spreadsheet: { id, name, status } }: { spreadsheet: Spreadsheet }) {
  if (status === "deleted") return <span class="name">{displayName(name)}</span>;
  return <a class="name" href={formatRoute({ kind: "sheet", id })}>{displayName(name)}</a>;
}

function Source({ spreadsheet: { source }, names }: Pick<RowProps, "spreadsheet" | "names">) {
  if (source === undefined) return null;
  const name = names.get(source);
  const SHORT_ID_LENGTH = 8;
  const text = name === undefined ? source.slice(0, SHORT_ID_LENGTH) : displayName(name);
  return <span class="source"> fork of <a href={formatRoute({ kind: "sheet", id: source })}>{text}</a></span>;
}

function Time({ seconds, now, prefix }: { seconds: number | null | undefined; now: number; prefix: string }) {
  if (seconds === null || seconds === undefined) return null;
  return (
    <time dateTime={new Date(seconds * 1_000).toISOString()} title={dateTimeText(seconds)}>
      <span class="narrow-only">{prefix} </span>
      {recentTimeText(seconds, now)}
    </time>
  );
}

function commandsOf({ role, status }: Spreadsheet, start: (command: DetailsCommand) => void): (MenuItem | null)[] {
  const item = (command: DetailsCommand, label: string, isAllowed: boolean): MenuItem | null =>
    isAllowed ? { label, run: () => start(command), isDangerous: command === "delete" } : null;
  const isOwner = role === "owner";
  const items = [
    item("rename", "Rename", status !== "deleted" && role !== undefined && role !== "viewer"),
    item("archive", "Archive", isOwner && status === "active"),
    item("unarchive", "Unarchive", isOwner && status === "archived"),
    item("delete", "Delete", isOwner && status !== "deleted"),
    item("undelete", "Undelete", isOwner && status === "deleted"),
  ];
  return items.some((one) => one !== null) ? items : [{ label: "You are a viewer: no commands", run: () => undefined }];
}

/** Reads the time of the newest entry when the row is first visible. */
function useLastChange(stack: StackClient, { id, status }: Spreadsheet, row: { current: Element | null }): number | null {
  const [changedS, setChangedS] = useState<number | null>(null);
  useEffect(() => {
    if (row.current === null || status === "deleted") return;
    const abort = new AbortController();
    const read = () => runLimited(() => readLastChangeS(stack, id, abort.signal)).then(setChangedS, () => undefined);
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      void read();
    });
    observer.observe(row.current);
    return () => {
      observer.disconnect();
      abort.abort();
    };
  }, [stack, id, status]);
  return changedS;
}
