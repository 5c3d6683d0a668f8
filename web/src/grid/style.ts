/**
 * Style of the element. A constructed style sheet and not a `<style>` element, because a strict content security policy
 * forbids inline styles. Hosts override the custom properties.
 */
export const STYLE = `
:host {
  --cellar-background: #ffffff; --cellar-text: #1b1f24; --cellar-muted: #57606a; --cellar-line: #d9dee3;
  --cellar-header: #f3f5f7; --cellar-header-selected: #d5e5f7; --cellar-accent: #0b62b8; --cellar-selected: #0b62b81f;
  --cellar-error: #b3261e; --cellar-pending: #8a4b00; --cellar-spill: #2f6b3a; --cellar-filled: #f2f8f3;
  --cellar-font: 13px/1.3 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  display: flex; flex-direction: column; min-height: 200px; position: relative; overflow: hidden; contain: strict;
  background: var(--cellar-background); color: var(--cellar-text); font: var(--cellar-font); color-scheme: light dark;
  direction: ltr;
}
@media (prefers-color-scheme: dark) {
  :host {
    --cellar-background: #16191d; --cellar-text: #e4e8ec; --cellar-muted: #a3adb8; --cellar-line: #333a42;
    --cellar-header: #21262c; --cellar-header-selected: #24405f; --cellar-accent: #6cb0f5; --cellar-selected: #6cb0f526;
    --cellar-error: #ff8f87; --cellar-pending: #f0b463; --cellar-spill: #7fcb8e; --cellar-filled: #1b241e;
  }
}
[hidden] { display: none !important; }
* { box-sizing: border-box; }
.scroller { flex: 1; min-height: 0; overflow: scroll; position: relative; overscroll-behavior: none; overflow-anchor: none; outline: none; }
.tall { position: relative; min-width: 100%; min-height: 100%; }
.viewport { position: sticky; top: 0; left: 0; overflow: hidden; contain: strict; cursor: cell; user-select: none; -webkit-user-select: none; }
.grid, .header, .body, .header-row { position: absolute; top: 0; left: 0; width: 100%; height: 100%; }
.header { height: 24px; overflow: hidden; z-index: 4; background: var(--cellar-header); }
.body { top: 24px; height: auto; bottom: 0; overflow: hidden; z-index: 0; }
.rows { position: absolute; top: 0; left: 0; width: 100%; height: 0; }
.row { position: absolute; top: 0; left: 0; height: 24px; width: 100%; }
.row.frozen { background: var(--cellar-background); z-index: 3; }
.row.last-frozen .cell, .row.last-frozen .row-header { border-bottom-color: var(--cellar-muted); }
.cells { position: absolute; top: 0; left: 0; }
.cell, .column, .row-header, .corner { position: absolute; top: 0; left: 0; height: 24px; padding: 0 5px; line-height: 23px; white-space: pre;
  overflow: hidden; overflow: clip; text-overflow: ellipsis; border: solid var(--cellar-line); border-width: 0 1px 1px 0; }
.cell, .editor, .formula, .mirror-text { unicode-bidi: plaintext; }
.cell { font-variant-numeric: tabular-nums; }
.cell.number { text-align: right; }
.cell.boolean { text-align: center; }
.cell.error { color: var(--cellar-error); text-align: center; }
.cell.stale { color: var(--cellar-muted); font-style: italic; }
.cell.pending { color: var(--cellar-pending); }
.cell.filled { background: var(--cellar-filled); }
.cell.noted::after { content: ""; position: absolute; top: 0; right: 0; border: 4px solid transparent; border-top-color: var(--cellar-accent); border-right-color: var(--cellar-accent); }
.cell.loading { color: var(--cellar-muted); }
.row-header, .column, .corner { background: var(--cellar-header); color: var(--cellar-muted); text-align: center; cursor: default; text-overflow: clip; }
.row-header { z-index: 2; font-variant-numeric: tabular-nums; }
.corner { z-index: 3; }
.column.selected, .row-header.selected { background: var(--cellar-header-selected); color: var(--cellar-text); }
.resize { position: absolute; top: 0; right: 0; width: 8px; height: 100%; cursor: col-resize; touch-action: none; }
.overlay { position: absolute; overflow: hidden; pointer-events: none; z-index: 1; }
.range, .active-cell, .spill, .fill-preview { position: absolute; top: 0; left: 0; }
.range { background: var(--cellar-selected); border: 1px solid var(--cellar-accent); }
.active-cell { border: 2px solid var(--cellar-accent); }
.mark, .marks { position: absolute; top: 0; left: 0; }
.marks { inset: 0; }
.spill { border: 2px dotted var(--cellar-spill); }
.fill-handle { position: absolute; top: 0; left: 0; width: 9px; height: 9px; background: var(--cellar-accent); border: 1px solid var(--cellar-background);
  cursor: crosshair; pointer-events: auto; touch-action: none; }
.editor { position: absolute; top: 0; left: 0; margin: 0; padding: 1px 3px; border: 2px solid transparent; border-radius: 0; resize: none; overflow: hidden;
  background: transparent; color: transparent; caret-color: transparent; font: inherit; line-height: 18px; outline: none; pointer-events: none; white-space: pre-wrap; z-index: 2; }
.editor.open { background: var(--cellar-background); color: inherit; caret-color: auto; border-color: var(--cellar-accent); pointer-events: auto; overflow: auto;
  cursor: text; user-select: text; -webkit-user-select: text; box-shadow: 0 2px 8px #0005; }
.bar { display: flex; align-items: stretch; border-bottom: 1px solid var(--cellar-line); background: var(--cellar-background); }
.bar input { font: inherit; color: inherit; background: transparent; border: 0; padding: 6px 8px; min-width: 0; outline: none; }
.bar input:focus-visible { box-shadow: inset 0 0 0 2px var(--cellar-accent); }
.name-box { width: 120px; border-right: 1px solid var(--cellar-line) !important; }
.foot { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; border-top: 1px solid var(--cellar-line); background: var(--cellar-header); color: var(--cellar-muted); }
.tab-bar { display: flex; max-width: 100%; min-width: 0; position: relative; }
.tabs { display: flex; overflow-x: auto; min-width: 0; }
.tab-bar button, .find button, .menu button, .dialog button { font: inherit; color: inherit; background: none; border: 0; padding: 7px 12px; cursor: pointer; white-space: nowrap; }
.tabs button { border-right: 1px solid var(--cellar-line); }
.tabs button[aria-selected="true"] { background: var(--cellar-background); color: var(--cellar-text); box-shadow: inset 0 2px var(--cellar-accent); }
button:focus-visible { outline: 2px solid var(--cellar-accent); outline-offset: -2px; }
.status { display: flex; flex-wrap: wrap; min-width: 0; overflow-wrap: anywhere; gap: 2px 16px; padding: 5px 12px; font-variant-numeric: tabular-nums; margin-left: auto; }
.status .problem { color: var(--cellar-error); }
.status .waiting { color: var(--cellar-pending); }
.notice { position: absolute; left: 50%; bottom: 72px; transform: translateX(-50%); width: max-content; max-width: calc(100% - 24px); overflow-wrap: anywhere; padding: 8px 14px; border-radius: 6px;
  background: var(--cellar-text); color: var(--cellar-background); z-index: 6; }
.notice button { margin-left: 12px; font: inherit; color: inherit; background: none; border: 1px solid; border-radius: 4px; cursor: pointer; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (forced-colors: active) {
  .active-cell, .range, .fill-preview, .editor.open { border-color: Highlight; }
  .range { forced-color-adjust: none; background: none; }
  .fill-handle { background: Highlight; forced-color-adjust: none; }
  .column.selected, .row-header.selected, .tab-bar [aria-selected="true"] { forced-color-adjust: none; background: Highlight; color: HighlightText; }
  .cell.stale { text-decoration: underline dotted; }
}
`;
