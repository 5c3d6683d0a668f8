/** The style of the panels, as a constructed style sheet: it is loaded with them, and needs no inline style. */

import { useLayoutEffect } from "preact/hooks";

const CSS = `
.panel-frame { display: flex; flex-direction: column; block-size: 100%; min-block-size: 0; font: inherit; }
.panel-head { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; padding: 0.5rem 0.75rem; border-block-end: 1px solid var(--cellar-line); }
.panel-head h2 { margin: 0; font-size: 1.05rem; }
.panel-close { inline-size: 2rem; block-size: 2rem; padding: 0; }
.panel-body { flex: 1; min-block-size: 0; overflow: auto; padding: 0.75rem; overflow-wrap: anywhere; }
.panel-frame { --panel-good: light-dark(#17632d, #8fdca6); }
.panel-frame h3 { margin: 1rem 0 0.4rem; font-size: 0.95rem; }
.panel-frame h3:first-child { margin-block-start: 0; }
.panel-frame p { margin: 0.35rem 0; }
.panel-frame :is(button, input, select) { max-inline-size: 100%; }
.panel-muted { color: var(--cellar-muted); }
.panel-muted:empty { margin: 0; }
.panel-note { padding: 0.4rem 0.6rem; border-inline-start: 3px solid var(--cellar-accent); background: var(--cellar-header); }
.panel-problem { color: var(--cellar-error); }
.panel-done { color: var(--panel-good); }
.panel-row, .panel-confirm, .panel-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem; }
.panel-row { padding: 0.35rem 0; border-block-end: 1px solid var(--cellar-line); }
.panel-row > .panel-grow { flex: 1 1 9rem; }
.panel-actions { margin-block: 0.5rem; }
.panel-list { list-style: none; margin: 0; padding: 0; }
.panel-form { display: grid; gap: 0.5rem; margin-block-start: 0.75rem; }
.panel-form label { display: grid; gap: 0.15rem; min-inline-size: 0; }
.panel-form :is(input, select) { inline-size: 100%; }
.panel-pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.5rem; }
.panel-small { font-size: 0.92em; font-weight: normal; color: var(--cellar-muted); }
.panel-address { inline-size: 100%; }
.panel-entry { display: block; inline-size: 100%; text-align: start; white-space: normal; block-size: auto; }
.panel-frame button.panel-entry { background: none; border-color: transparent; border-radius: 0.3rem; padding: 0.35rem 0.5rem; }
.panel-frame button.panel-entry:hover { background: var(--cellar-header); }
.panel-frame button.panel-entry[aria-pressed="true"] { background: var(--cellar-header); border-color: var(--cellar-accent); }
.panel-old { color: var(--cellar-error); text-decoration: line-through; }
.panel-new { color: var(--panel-good); }
.panel-table { inline-size: 100%; overflow-wrap: break-word; border-collapse: collapse; }
.panel-table :is(th, td) { text-align: start; vertical-align: top; padding: 0.25rem 0.3rem; border-block-end: 1px solid var(--cellar-line); font-weight: normal; }
.panel-table caption { text-align: start; }
.panel-table thead th { font-weight: 600; }
.panel-track { position: relative; block-size: 2.5rem; margin-block: 0.5rem; border-radius: 0.3rem; background: var(--cellar-header); touch-action: none; cursor: pointer; }
.panel-track canvas { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; }
.panel-frame progress { inline-size: 100%; }
`;

let isAdopted = false;

export function usePanelStyle(): void {
  useLayoutEffect(() => {
    if (isAdopted) return;
    isAdopted = true;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }, []);
}
