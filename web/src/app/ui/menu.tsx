/** A button that opens a list of commands. Arrow keys move in it, Escape closes it. */

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface MenuItem {
  label: string;
  run: () => void;
  isDangerous?: boolean;
}

interface MenuProps {
  label: string;
  items: readonly (MenuItem | null)[];
  /** Called before the list is shown. */
  open?: () => void;
}

export function Menu({ label, items, open }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  // Before the next key: it belongs to the menu.
  useLayoutEffect(() => {
    if (!isOpen) return;
    buttonsOf(root.current)[0]?.focus();
    const closeOutside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", closeOutside);
    return () => removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);
  const toggle = () => {
    if (!isOpen) open?.();
    setOpen(!isOpen);
  };
  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>("button")?.focus();
  };
  const handleKey = (event: KeyboardEvent) => {
    if (!isOpen) return;
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (!moveFocus(root.current, event.key)) return;
    if (event.key !== "Tab") event.preventDefault();
  };
  return (
    <div class="menu" ref={root} onKeyDown={handleKey}>
      <button type="button" class="icon" aria-label={label} title={label} aria-haspopup="menu" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
        <span aria-hidden="true">⋯</span>
      </button>
      <div id={id} role="menu" aria-label={label} hidden={!isOpen}>
        {items.map((item) => item && <Item key={item.label} item={item} close={close} />)}
      </div>
    </div>
  );
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  const run = () => {
    close();
    item.run();
  };
  return <button type="button" role="menuitem" tabIndex={-1} class={item.isDangerous === true ? "danger" : ""} onClick={run}>{item.label}</button>;
}

function buttonsOf(root: HTMLElement | null): HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
}

function moveFocus(root: HTMLElement | null, key: string): boolean {
  const buttons = buttonsOf(root);
  const focused = buttons.indexOf(document.activeElement as HTMLElement);
  const targets: Record<string, number> = { ArrowDown: focused + 1, ArrowUp: focused - 1, Home: 0, End: buttons.length - 1 };
  const target = targets[key];
  if (target === undefined) return false;
  buttons[(target + buttons.length) % buttons.length]?.focus();
  return true;
}
