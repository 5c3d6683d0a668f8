/** A panel beside the grid. */

import { useEffect, useRef } from "preact/hooks";
import { PANELS, PANEL_NAMES, type PanelName, type PanelProps } from "../panels";
import { useModule } from "../ui/hooks";

export function Panel({ name, ...props }: PanelProps & { name: PanelName }) {
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
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
    <aside class="panel" ref={root} tabIndex={-1} aria-label={PANEL_NAMES[name]} onKeyDown={handleKey}>
      <PanelBody name={name} {...props} />
    </aside>
  );
}

const missing = () => Promise.reject<never>(new Error("this panel is not part of the page"));

function PanelBody({ name, ...props }: PanelProps & { name: PanelName }) {
  const module = useModule(PANELS[name] ?? missing);
  return module === null ? <p class="muted loading">Loading…</p> : <module.default {...props} />;
}
