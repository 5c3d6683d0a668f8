import type { CellarGrid } from "@cellar/grid";
import type { HTMLAttributes } from "preact";

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "cellar-grid": HTMLAttributes<CellarGrid> & { "no-formula-bar"?: boolean; "no-status"?: boolean; "no-tabs"?: boolean; "tab-leaves"?: boolean };
    }
  }
}
