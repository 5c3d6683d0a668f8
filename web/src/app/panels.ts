/** The panels of a spreadsheet. Each is loaded when it is first opened. */

import type { ComponentType } from "preact";
import type { OpenedSheet } from "../data/index";
import type { CellarGrid } from "../grid/index";
import type { StackClient } from "../stack/http";

export interface PanelProps {
  stack: StackClient;
  spreadsheet: string;
  source: OpenedSheet;
  grid: CellarGrid;
  close(): void;
  /** Shows an earlier state, or the newest one. */
  setSource(at: string | null): void;
}

export const PANEL_NAMES = {
  share: "Share",
  history: "History",
  time: "Time",
  "cell-history": "History of cells",
  export: "Export",
  forks: "Forks",
} as const;

export type PanelName = keyof typeof PANEL_NAMES;

export type PanelModule = { default: ComponentType<PanelProps> };

export const PANELS: Partial<Record<PanelName, () => Promise<PanelModule>>> = {};
