/** The panels, each in a chunk of its own. */

import type { ComponentType } from "preact";
import type { PanelProps } from "./props";

type Load = () => Promise<{ default: ComponentType<PanelProps> }>;

export const PANEL_LOADERS = {
  share: () => import("./share"),
  history: () => import("./history"),
  time: () => import("./time"),
  "cell-history": () => import("./cell-history"),
  export: () => import("./export"),
  forks: () => import("./forks"),
} satisfies Record<string, Load>;
