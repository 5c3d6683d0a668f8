/** A spreadsheet: its header, the grid and a panel. */

import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { ProblemError } from "../../data/api-error";
import type { CellarGrid } from "../../grid/index";
import { changeDetails } from "../../stack/details";
import { displayName } from "../list/sort";
import type { PanelName } from "../panels";
import { ProblemScreen } from "../problem-screen";
import { problemText } from "../problem-text";
import { formatRoute, type SheetRoute } from "../routes";
import type { StackAccess } from "../stack-access";
import { ExpiredBar } from "../ui/expired-bar";
import { useDocumentTitle } from "../ui/hooks";
import { Toast } from "../ui/toast";
import { Grid } from "./grid";
import { SheetHeader } from "./header";
import { Panel } from "./panel";
import { withoutEditing } from "./read-only";
import { useDetails, useSource } from "./use-sheet";

interface SheetScreenProps {
  route: SheetRoute;
  access: StackAccess;
}

/** Problems that leave no spreadsheet to show. Others are shown in its status. */
const FATAL = ["not-found", "forbidden", "deleted", "invalid-link"];

export function SheetScreen({ route, access }: SheetScreenProps) {
  const [attempt, setAttempt] = useState(0);
  const { details, error, replace } = useDetails(access, route.id, attempt);
  const opened = useSource(access, route, attempt);
  const [panel, setPanel] = useState<PanelName | null>(null);
  const [message, setMessage] = useState("");
  const grid = useRef<CellarGrid>(null);
  useDocumentTitle(details === null ? "Spreadsheet" : displayName(details.name));
  const status = details?.status ?? "active";
  const source = useMemo(() => {
    return opened === null || status === "active" ? opened : withoutEditing(opened, `The spreadsheet is ${status}`);
  }, [opened, status]);
  const showState = useCallback((at: string | null) => {
    const { at: _, ...newest } = route;
    location.hash = formatRoute(at === null ? newest : { ...newest, at });
  }, [route]);
  if (error instanceof ProblemError && FATAL.includes(error.problem)) {
    const undelete = () => void changeDetails(access.stack, route.id, { status: "active" }).then(
      () => setAttempt(attempt + 1),
      () => undefined,
    );
    return <ProblemScreen {...problemText(error)} retry={() => setAttempt(attempt + 1)} undelete={undelete} />;
  }
  return (
    <div class="screen sheet">
      <SheetHeader {...{ access, route, details, replace, source, panel, setPanel, grid }} />
      <ExpiredBar />
      {route.at === undefined ? null : <EarlierBar at={route.at} showState={showState} />}
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

function EarlierBar({ at, showState }: { at: string; showState: (at: string | null) => void }) {
  return (
    <div class="bar" role="status">
      <span>This is the state at {/^\d+\.\d+$/.test(at) ? "position " : ""}{at}. It is read-only.</span>
      <button type="button" onClick={() => showState(null)}>Show the newest state</button>
    </div>
  );
}
