import type { ClassAttributes, HTMLAttributes } from "preact";
import type { CellarGrid } from "../grid/index";

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "cellar-grid": HTMLAttributes<CellarGrid> & ClassAttributes<CellarGrid> & { "no-sync-status"?: boolean };
    }
  }
}
