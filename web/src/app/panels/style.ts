/** The style of the panels, as a constructed style sheet: it is loaded with them, and needs no inline style. */

import { useLayoutEffect } from "preact/hooks";

const CSS = `
.panel-frame { display: flex; flex-direction: column; block-size: 100%; min-block-size: 0; font: inherit; }
.panel-head { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; padding: 0.5rem 0.75rem; border-block-end: 1px solid var(--panel-line); }
.panel-head h2 { margin: 0; font-size: 1.05rem; }
.panel-close { inline-size: 2rem; block-size: 2rem; padding: 0; }
.panel-body { flex: 1; min-block-size: 0; overflow: auto; padding: 0.75rem; overflow-wrap: anywhere; }
.panel-frame { --panel-line: light-dark(#d5dae0, #3a424b); --panel-soft: light-dark(#eef2f6, #262c33); --panel-accent: light-dark(#0b5cad, #7cb8f5); --panel-bad: light-dark(#a3161c, #ff9d9d); --panel-good: light-dark(#17632d, #8fdca6); --panel-dim: light-dark(#56606b, #a9b3be); }
.panel-frame h3 { margin: 1rem 0 0.4rem; font-size: 0.95rem; }
.panel-frame h3:first-child { margin-block-start: 0; }
.panel-frame p { margin: 0.35rem 0; }
.panel-frame button, .panel-frame input, .panel-frame select { font: inherit; min-block-size: 2rem; box-sizing: border-box; max-inline-size: 100%; }
.panel-frame button { padding: 0.15rem 0.7rem; border: 1px solid var(--panel-line); border-radius: 0.3rem; background: var(--panel-soft); color: inherit; cursor: pointer; }
.panel-frame button:disabled { cursor: default; opacity: 0.55; }
.panel-frame button.primary { background: light-dark(#0b5cad, #1b6ec2); border-color: transparent; color: #fff; }
.panel-frame button.danger { background: #a3161c; border-color: transparent; color: #fff; }
.panel-frame input, .panel-frame select { padding: 0.15rem 0.4rem; border: 1px solid light-dark(#87919c, #6b7681); border-radius: 0.3rem; background: light-dark(#fff, #1a1f24); color: inherit; }
.panel-frame :is(button, input, select, [tabindex]):focus-visible { outline: 2px solid var(--panel-accent); outline-offset: 1px; }
.panel-muted { color: var(--panel-dim); }
.panel-muted:empty { margin: 0; }
.panel-note { padding: 0.4rem 0.6rem; border-inline-start: 3px solid var(--panel-accent); background: var(--panel-soft); }
.panel-problem { color: var(--panel-bad); }
.panel-done { color: var(--panel-good); }
.panel-row, .panel-confirm, .panel-actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem; }
.panel-row { padding: 0.35rem 0; border-block-end: 1px solid var(--panel-line); }
.panel-row > .panel-grow { flex: 1 1 9rem; }
.panel-actions { margin-block: 0.5rem; }
.panel-list { list-style: none; margin: 0; padding: 0; }
.panel-form { display: grid; gap: 0.5rem; margin-block-start: 0.75rem; }
.panel-form label { display: grid; gap: 0.15rem; min-inline-size: 0; }
.panel-form :is(input, select) { inline-size: 100%; }
.panel-pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.5rem; }
.panel-small { font-size: 0.92em; font-weight: normal; color: var(--panel-dim); }
.panel-address { inline-size: 100%; }
.panel-entry { display: block; inline-size: 100%; text-align: start; white-space: normal; block-size: auto; }
.panel-frame button.panel-entry { background: none; border-color: transparent; border-radius: 0.3rem; padding: 0.35rem 0.5rem; }
.panel-frame button.panel-entry:hover { background: var(--panel-soft); }
.panel-frame button.panel-entry[aria-pressed="true"] { background: var(--panel-soft); border-color: var(--panel-accent); }
.panel-old { color: var(--panel-bad); text-decoration: line-through; }
.panel-new { color: var(--panel-good); }
.panel-table { inline-size: 100%; overflow-wrap: break-word; border-collapse: collapse; }
.panel-table :is(th, td) { text-align: start; vertical-align: top; padding: 0.25rem 0.3rem; border-block-end: 1px solid var(--panel-line); font-weight: normal; }
.panel-table caption { text-align: start; }
.panel-table thead th { font-weight: 600; }
.panel-track { position: relative; block-size: 2.5rem; margin-block: 0.5rem; border-radius: 0.3rem; background: var(--panel-soft); touch-action: none; cursor: pointer; }
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
