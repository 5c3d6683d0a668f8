/** The header of a spreadsheet: name, status and commands. */

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import type { OpenedSheet } from "../../data/index";
import type { CellarGrid } from "../../grid/index";
import { changeDetails, type DetailsChange, type Spreadsheet } from "../../stack/details";
import { DetailsDialog, type DetailsCommand } from "../list/lazy-details-dialog";
import { PANEL_NAMES, type PanelName } from "../panel-names";
import { formatRoute, type SheetRoute } from "../routes";
import { currentCredentials } from "../session";
import type { StackAccess } from "../stack-access";
import { statusText } from "../status-text";
import { Menu, type MenuItem } from "../ui/menu";
import { downloadUnsentEdits } from "./download";
import { Title } from "./title";
import { useStatus, useUnsavedWarning } from "./use-sheet";

interface SheetHeaderProps {
  access: StackAccess;
  route: SheetRoute;
  details: Spreadsheet | null;
  replace: (details: Spreadsheet) => void;
  source: OpenedSheet | null;
  panel: PanelName | null;
  setPanel: (panel: PanelName | null) => void;
  grid: RefObject<CellarGrid | null>;
}

const BUTTONS: PanelName[] = ["share", "history", "time", "export"];
/** Narrow screens have no room for the buttons, so the menu has all panels. */
const MENU_PANELS: PanelName[] = ["share", "history", "time", "cell-history", "forks", "export"];

export function SheetHeader(props: SheetHeaderProps) {
  const { access, route, details, replace, source, panel, setPanel } = props;
  return (
    <header class="sheet-header">
      {currentCredentials() === null ? <span class="home">Cellar</span> : <a class="home" href="#/" title="All spreadsheets">Cellar</a>}
      <Title stack={access.stack} details={details} replace={replace} />
      <Source details={details} />
      {source === null ? <span class="status">Opening…</span> : <Status {...{ access, route, details, source }} />}
      <div class="tools">
        {BUTTONS.map((name) => (
          <button key={name} type="button" aria-pressed={panel === name} disabled={source === null} onClick={() => setPanel(panel === name ? null : name)}>
            {PANEL_NAMES[name]}
          </button>
        ))}
        <Commands {...props} />
      </div>
    </header>
  );
}

function Source({ details }: { details: Spreadsheet | null }) {
  if (details?.source === undefined) return null;
  return <a class="source" href={formatRoute({ kind: "sheet", id: details.source })}>Source of this fork</a>;
}

interface StatusProps {
  access: StackAccess;
  route: SheetRoute;
  details: Spreadsheet | null;
  source: OpenedSheet;
}

function Status({ access, route, details, source }: StatusProps) {
  const status = useStatus(source);
  useUnsavedWarning(source);
  const { text, tone } = statusText(status, { status: details?.status ?? "active", isLink: access.isLink, at: route.at });
  return (
    <span class={`status ${tone}`} role="status" title={text}>
      {text}
      {status.pending > 0 && tone !== "quiet" ? <button type="button" class="link" onClick={() => void downloadUnsentEdits(source, route.id)}>Download</button> : null}
    </span>
  );
}

function Commands({ access, route, details, replace, source, setPanel, grid }: SheetHeaderProps) {
  const [command, setCommand] = useState<DetailsCommand | null>(null);
  const [hasUnsent, setHasUnsent] = useState(false);
  const findUnsent = () => void source?.unsentEdits().then(({ pending, setAside }) => setHasUnsent(pending.length + setAside.length > 0));
  const change = async (next: DetailsChange) => {
    replace(await changeDetails(access.stack, route.id, next));
    if (next.status === "deleted") location.hash = "#/";
  };
  const start = (name: DetailsCommand, label: string, isShown: boolean): MenuItem | null =>
    isShown ? { label, run: () => setCommand(name), isDangerous: name === "delete" } : null;
  const isOwner = details?.role === "owner";
  const items = [
    ...MENU_PANELS.map((name) => (source === null ? null : { label: PANEL_NAMES[name], run: () => setPanel(name) })),
    { label: "Copy the address of the selection", run: () => void copyAddress(route, source, grid.current) },
    source === null || !hasUnsent ? null : { label: "Download unsent edits", run: () => void downloadUnsentEdits(source, route.id) },
    start("archive", "Archive", isOwner && details.status === "active"),
    start("unarchive", "Unarchive", isOwner && details.status === "archived"),
    start("delete", "Delete", isOwner && details.status !== "deleted"),
  ];
  return (
    <>
      <Menu label="More commands" items={items} open={findUnsent} />
      {command === null || details === null ? null : (
        <DetailsDialog spreadsheet={details} command={command} change={change} close={() => setCommand(null)} />
      )}
    </>
  );
}

async function copyAddress(route: SheetRoute, source: OpenedSheet | null, grid: CellarGrid | null): Promise<void> {
  const sheet = source?.sheets.find((info) => info.sheet === source.sheet)?.name;
  const cell = grid?.shadowRoot?.querySelector<HTMLInputElement>(".name-box")?.value;
  const fragment = formatRoute({ ...route, ...(sheet === undefined ? {} : { sheet }), ...(cell === undefined ? {} : { cell }) });
  await navigator.clipboard.writeText(location.href.replace(/#.*$/, "") + fragment);
}
