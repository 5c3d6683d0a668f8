/** What the page passes to each panel. */

import type { OpenedSheet } from "../../data/index";
import type { CellarGrid } from "../../grid/index";
import type { StackClient } from "../../stack/http";

export interface PanelProps {
  stack: StackClient;
  spreadsheet: string;
  /** The shown state: the newest one, or an earlier one. */
  source: OpenedSheet;
  grid: CellarGrid;
  close(): void;
  /** Shows the state at a position such as `0.42`, or the newest one. */
  setSource(at: string | null): void;
}
