/** Style of the parts that the first cells do not need. */
export const LATER_STYLE = `
:host { --cellar-mark-0: #9a4d00; --cellar-mark-1: #7a2fb0; --cellar-mark-2: #006b66; --cellar-mark-3: #b0126b;
  --cellar-mark-4: #1b6e1f; --cellar-mark-5: #5d6400; --cellar-mark-6: #b3261e; --cellar-mark-7: #4d5661; }
@media (prefers-color-scheme: dark) {
  :host { --cellar-mark-0: #f0a860; --cellar-mark-1: #cf9cf5; --cellar-mark-2: #45d6b8; --cellar-mark-3: #f58fc2;
    --cellar-mark-4: #8fd46a; --cellar-mark-5: #c9d160; --cellar-mark-6: #ff8f87; --cellar-mark-7: #b4bfca; }
}
@media (forced-colors: active) {
  :host { --cellar-mark-0: CanvasText; --cellar-mark-1: CanvasText; --cellar-mark-2: CanvasText; --cellar-mark-3: CanvasText;
    --cellar-mark-4: CanvasText; --cellar-mark-5: CanvasText; --cellar-mark-6: CanvasText; --cellar-mark-7: CanvasText; }
  .other, .other-name { forced-color-adjust: none; }
}
.others { position: absolute; inset: 0; }
.other { position: absolute; top: 0; left: 0; border: 2px solid var(--other); outline: 1px solid var(--cellar-background); outline-offset: -3px; }
.other.wide::before { content: ""; position: absolute; inset: 0; background: var(--other); opacity: .1; }
.other.own { outline: 2px solid var(--other); outline-offset: 0; }
.other.cut { border-top-color: transparent; }
.other-name { position: absolute; top: 0; left: 0; height: 15px; padding: 0 5px; overflow: hidden; font-size: 11px; line-height: 15px; white-space: nowrap; text-overflow: ellipsis;
  background: var(--other); color: var(--cellar-background); opacity: 0; transition: opacity .3s; }
.other-name.moved, .other-name.hovered { opacity: 1; }
@media (prefers-reduced-motion: reduce) { .other-name { transition: none; } }
@media (forced-colors: active) { .other-name { color: Canvas; } }
.tabs .occupied::after { content: "●" / ""; margin-left: 6px; font-size: 9px; color: var(--other); }
.people { color: var(--cellar-text); }
.mark { --mark: var(--cellar-mark-0); border: 2px solid var(--mark); }
.mark::before { content: ""; position: absolute; inset: 0; background: var(--mark); opacity: .16; }
.mark.cut, .range.cut, .active-cell.cut, .spill.cut { border-top-color: transparent; }
.mark.changed { border-width: 0 0 0 3px; }
.mark.found { border-color: transparent; }
.mark.found::before { opacity: .35; }
.mark.dependent, .mark.reference { border-style: dashed; }
.mark.person::before { opacity: 0; }
.mark-label { position: absolute; right: -2px; bottom: 100%; padding: 0 5px; font-size: 11px; line-height: 15px; white-space: nowrap; background: var(--mark); color: var(--cellar-background); }
.mark-label.inside { bottom: auto; top: -2px; }
.color-1 { --mark: var(--cellar-mark-1); } .color-2 { --mark: var(--cellar-mark-2); } .color-3 { --mark: var(--cellar-mark-3); }
.color-4 { --mark: var(--cellar-mark-4); } .color-5 { --mark: var(--cellar-mark-5); } .color-6 { --mark: var(--cellar-mark-6); } .color-7 { --mark: var(--cellar-mark-7); }
.fill-preview { border: 1px dashed var(--cellar-accent); }
.find { display: flex; align-items: center; border-bottom: 1px solid var(--cellar-line); background: var(--cellar-header); }
.find input { flex: 0 1 260px; width: 0; font: inherit; color: inherit; background: var(--cellar-background); border: 1px solid var(--cellar-line); border-radius: 4px; padding: 4px 8px; margin: 4px 8px; min-width: 0; }
.find input:focus { outline: 2px solid var(--cellar-accent); outline-offset: -1px; }
.find-count { flex: 1 1 0; min-width: 100px; color: var(--cellar-muted); }
.rename { position: absolute; top: 0; bottom: 0; font: inherit; color: inherit; background: var(--cellar-background); border: 2px solid var(--cellar-accent); padding: 0 10px; outline: none; }
.dialog { max-width: min(420px, 90%); padding: 16px 20px; color: inherit; background: var(--cellar-background); border: 1px solid var(--cellar-line); border-radius: 8px; font: inherit; }
.dialog::backdrop { background: #0006; }
.dialog h2 { margin: 0; font-size: 16px; overflow-wrap: anywhere; }
.dialog-buttons { display: flex; justify-content: flex-end; gap: 8px; }
.dialog button { border: 1px solid var(--cellar-line); border-radius: 6px; }
.dialog .danger { background: var(--cellar-error); color: var(--cellar-background); }
.menu { position: absolute; max-height: 100%; overflow-y: auto; z-index: 7; top: 0; left: 0; min-width: 180px; padding: 4px 0; background: var(--cellar-background); border: 1px solid var(--cellar-line); border-radius: 6px; box-shadow: 0 4px 16px #0005; }
.menu button { display: block; width: 100%; text-align: left; }
.menu button:hover, .menu button:focus { background: var(--cellar-header-selected); color: var(--cellar-text); }
.menu button:disabled { color: var(--cellar-muted); opacity: .6; cursor: default; }
@media (pointer: coarse) { .resize { width: 24px; } }
.resize:hover, .resize.active { background: linear-gradient(var(--cellar-accent), var(--cellar-accent)) right / 3px 100% no-repeat; }
.fill-handle::before { content: ""; position: absolute; inset: -5px; }
@media (pointer: coarse) { .fill-handle::before { inset: -10px; } }
@media (forced-colors: active) {
  .mark { forced-color-adjust: none; background: none; }
  .mark[class][class] { border: 3px double Highlight; }
  .mark-label { --mark: Highlight; color: HighlightText; }
}
`;
