import { CellarGrid } from "./grid";

export { CellarGrid };
export type { Selection } from "./selection";
export type { CellAddress } from "./address";
export type { ColumnWidthStore } from "./column-widths";
export type { FoundCell, FoundCells } from "./find";

// A page may load the script twice, such as from two bundles.
if (!customElements.get("cellar-grid")) customElements.define("cellar-grid", CellarGrid);

declare global {
  interface HTMLElementTagNameMap {
    "cellar-grid": CellarGrid;
  }
}
