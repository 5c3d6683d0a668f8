/** A panel beside the grid. */

import type { ComponentType } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { PANEL_NAMES, type PanelName } from "../panel-names";
import { PANEL_LOADERS } from "../panels/index";
import type { PanelProps } from "../panels/props";
import { useModule } from "../ui/hooks";

/** On a narrow screen, these leave room for the cells that they are about. */
const LOOKS_AT_CELLS: PanelName[] = ["time", "history", "cell-history"];

export function Panel({ name, ...props }: PanelProps & { name: PanelName }) {
  const root = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const focused = document.activeElement;
    root.current?.focus();
    return () => {
      if (focused instanceof HTMLElement) focused.focus();
    };
  }, []);
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.defaultPrevented) props.close();
  };
  return (
    <aside class={LOOKS_AT_CELLS.includes(name) ? "panel beside-cells" : "panel"} ref={root} tabIndex={-1} aria-label={PANEL_NAMES[name]} onKeyDown={handleKey}>
      <PanelBody name={name} {...props} />
    </aside>
  );
}

function PanelBody({ name, ...props }: PanelProps & { name: PanelName }) {
  const module = useModule<{ default: ComponentType<PanelProps> }>(PANEL_LOADERS[name]);
  return module === null ? <p class="muted loading">Loading…</p> : <module.default {...props} />;
}
