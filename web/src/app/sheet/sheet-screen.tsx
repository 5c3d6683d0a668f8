/** A spreadsheet: its header, the grid and a panel. */

import { useCallback, useRef, useState } from "preact/hooks";
import { ProblemError, UnreachableError } from "../../data/api-error";
import type { CellarGrid } from "../../grid/index";
import { changeDetails } from "../../stack/details";
import { displayName } from "../list/sort";
import { takeNotice } from "../notice";
import type { PanelName } from "../panel-names";
import { ProblemScreen } from "../problem-screen";
import { problemText } from "../problem-text";
import { formatRoute, type SheetRoute } from "../routes";
import type { StackAccess } from "../stack-access";
import { ExpiredBar } from "../ui/expired-bar";
import { useDocumentTitle } from "../ui/hooks";
import { Toast } from "../ui/toast";
import { EarlierBar, UnreachableBar } from "./bars";
import { Grid } from "./grid";
import { SheetHeader } from "./header";
import { Panel } from "./panel";
import { useDetails, useSource } from "./use-sheet";

interface SheetScreenProps {
  route: SheetRoute;
  access: StackAccess;
}

/** Problems that leave no spreadsheet to show. Others are shown in its status. */
const FATAL = ["not-found", "forbidden", "deleted", "invalid-link"];

export function SheetScreen({ route, access }: SheetScreenProps) {
  const [attempt, setAttempt] = useState(0);
  const { details, shared, error, replace } = useDetails(access, route.id, attempt);
  const status = details?.status ?? "active";
  const source = useSource({ access, route, attempt, details: shared, readOnlyReason: status === "active" ? null : `The spreadsheet is ${status}` });
  const [panel, setPanel] = useState<PanelName | null>(null);
  const [message, setMessage] = useState(takeNotice);
  const grid = useRef<CellarGrid>(null);
  useDocumentTitle(details === null ? "Spreadsheet" : displayName(details.name));
  const showState = useCallback((at: string | null) => {
    const { at: shown, ...newest } = route;
    if (at === (shown ?? null)) return;
    const fragment = formatRoute(at === null ? newest : { ...newest, at });
    // "Back" leaves the earlier states at once, not one by one.
    if (shown !== undefined && at !== null) location.replace(fragment);
    else location.hash = fragment;
  }, [route]);
  const retry = () => setAttempt(attempt + 1);
  if (error instanceof ProblemError && FATAL.includes(error.problem)) {
    const undelete = () => void changeDetails(access.stack, route.id, { status: "active" }).then(retry, retry);
    return <ProblemScreen {...problemText(error)} retry={retry} undelete={undelete} />;
  }
  return (
    <div class="screen sheet">
      <SheetHeader {...{ access, route, details, replace, source, panel, setPanel, grid }} />
      <ExpiredBar />
      {error instanceof UnreachableError && source?.sheets.length === 0 ? <UnreachableBar retry={retry} /> : null}
      {route.at === undefined || source === null ? null : <EarlierBar at={route.at} source={source} showNewest={() => showState(null)} />}
      <div class="work">
        <Grid route={route} source={source} access={access} grid={grid} onProblem={setMessage} />
        {panel === null || source === null || grid.current === null ? null : (
          <Panel key={panel} name={panel} stack={access.stack} spreadsheet={route.id} source={source} grid={grid.current} close={() => setPanel(null)} setSource={showState} />
        )}
      </div>
      <Toast text={message} close={() => setMessage("")} />
    </div>
  );
}
