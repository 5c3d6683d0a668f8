/** Style of the parts that the first cells do not need. */
export const LATER_STYLE = `
.fill-preview { border: 1px dashed var(--cellar-accent); }
.find { display: flex; align-items: center; border-bottom: 1px solid var(--cellar-line); background: var(--cellar-header); }
.find input { flex: 0 1 260px; font: inherit; color: inherit; background: var(--cellar-background); border: 1px solid var(--cellar-line); border-radius: 4px; padding: 4px 8px; margin: 4px 8px; min-width: 0; }
.find-count { flex: 1; color: var(--cellar-muted); }
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
`;
