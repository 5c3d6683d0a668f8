/** Style of the formula bar, the suggestions and the explanations. */
export const FORMULA_STYLE = `
.formula-field { position: relative; flex: 1; min-width: 0; z-index: 6; }
.formula { position: absolute; top: 0; left: 0; width: 100%; height: 100%; margin: 0; padding: 6px 8px; border: 0; border-radius: 0; resize: none;
  overflow: hidden; font: inherit; line-height: 18px; color: inherit; background: var(--cellar-background); outline: none; white-space: pre-wrap; }
.formula-field:not(:focus-within) { clip-path: inset(5px 0); }
.formula:focus { overflow-y: auto; box-shadow: inset 0 0 0 2px var(--cellar-accent), 0 2px 8px #0005; }
.mirror { --mark: var(--cellar-mark-0); position: absolute; overflow: hidden; pointer-events: none; z-index: 2; line-height: 18px; border: 2px solid transparent; padding: 1px 3px; }
.formula-field .mirror { border-width: 0; padding: 6px 8px; }
.mirror-text { white-space: pre-wrap; overflow-wrap: break-word; min-height: 100%; }
.mirrored { color: transparent !important; caret-color: var(--cellar-text) !important; }
.mirror span { color: var(--mark); }
.mirror .text { color: var(--cellar-spill); }
.formula-popup { position: absolute; top: 0; left: 0; z-index: 8; max-width: min(460px, 100%); background: var(--cellar-background); color: var(--cellar-text);
  border: 1px solid var(--cellar-line); border-radius: 6px; box-shadow: 0 4px 16px #0005; overflow: hidden; }
.formula-hint { padding: 5px 10px; border-bottom: 1px solid var(--cellar-line); overflow-wrap: anywhere; }
.formula-hint:last-child, .formula-hint:has(+ [hidden]) { border-bottom: 0; }
.formula-call b { color: var(--cellar-accent); }
.formula-meaning { color: var(--cellar-muted); font-size: 12px; }
.formula-list { max-height: 200px; overflow: hidden; }
.formula-option { display: flex; gap: 12px; align-items: baseline; padding: 4px 10px; cursor: pointer; }
.formula-option .formula-meaning { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.formula-option:hover, .formula-option[aria-selected="true"] { background: var(--cellar-header-selected); }
.formula-option[aria-selected="true"] .formula-meaning { color: inherit; }
.formula-tip { position: absolute; top: 0; left: 0; z-index: 5; max-width: min(360px, 100%); padding: 6px 10px; white-space: pre-wrap; overflow-wrap: anywhere; pointer-events: none;
  background: var(--cellar-background); color: var(--cellar-text); border: 1px solid var(--cellar-line); border-left: 3px solid var(--cellar-muted); border-radius: 4px; box-shadow: 0 2px 8px #0004; }
@media (forced-colors: active) { .formula-option[aria-selected="true"] { outline: 2px solid Highlight; outline-offset: -2px; } }
@media (forced-colors: active) { .mirror { display: none; } .mirrored { color: inherit !important; } }
`;
