/** Style of the formula bar and of what helps to write formulas. */
export const FORMULA_STYLE = `
.formula-field { position: relative; flex: 1; min-width: 0; z-index: 6; }
.formula { position: absolute; top: 0; left: 0; width: 100%; height: 100%; margin: 0; padding: 7px 8px 5px; border: 0; border-radius: 0; resize: none;
  overflow: hidden; font: inherit; line-height: 18px; color: inherit; background: var(--cellar-background); outline: none; white-space: pre-wrap; }
.formula:focus { overflow-y: auto; box-shadow: inset 0 0 0 2px var(--cellar-accent), 0 2px 8px #0005; }
.mirror { --mark: var(--cellar-mark-0); position: absolute; overflow: hidden; pointer-events: none; z-index: 2; line-height: 18px; border: 2px solid transparent; padding: 1px 3px; }
.formula-field .mirror { border-width: 0; padding: 7px 8px 5px; }
.mirror-text { white-space: pre-wrap; overflow-wrap: break-word; min-height: 100%; }
.mirrored { color: transparent !important; caret-color: var(--cellar-text) !important; }
.mirror span { color: var(--mark); }
.mirror .text { color: var(--cellar-spill); }
@media (forced-colors: active) { .mirror { display: none; } .mirrored { color: inherit !important; } }
`;
