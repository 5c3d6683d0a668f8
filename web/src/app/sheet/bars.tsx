/** The bars above the grid that say why it does not show the newest state. */

import type { OpenedSheet } from "../../data/index";
import { useStatus } from "./use-sheet";

export function UnreachableBar({ retry }: { retry: () => void }) {
  return (
    <div class="bar warning" role="alert">
      <span>The stack does not respond, and this spreadsheet is not stored on this device. Check the network.</span>
      <button type="button" onClick={retry}>Try again</button>
    </div>
  );
}

interface EarlierBarProps {
  at: string;
  source: OpenedSheet;
  showNewest: () => void;
}

export function EarlierBar({ at, source, showNewest }: EarlierBarProps) {
  const { problem } = useStatus(source);
  const state = `state at ${/^\d+\.\d+$/.test(at) ? "position " : ""}${at}`;
  const hasFailed = problem !== null && source.sheets.length === 0;
  return (
    <div class="bar" role="status">
      <span>{hasFailed ? `The ${state} cannot be shown.` : `This is the ${state}. It is read-only.`}</span>
      <button type="button" onClick={showNewest}>Show the newest state</button>
    </div>
  );
}
