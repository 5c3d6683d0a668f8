/** The names of the panels of a spreadsheet. */

import type { PANEL_LOADERS } from "./panels/index";

export type PanelName = keyof typeof PANEL_LOADERS;

export const PANEL_NAMES: Record<PanelName, string> = {
  share: "Share",
  history: "History",
  time: "Time",
  "cell-history": "History of cells",
  export: "Export",
  forks: "Forks",
};
