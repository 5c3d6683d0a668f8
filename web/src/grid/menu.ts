import { make, moveTo } from "./dom";

export interface MenuItem {
  label: string;
  isDisabled: boolean;
  run(): void;
}

export interface MenuPlace {
  x: number;
  y: number;
  /** The menu stays inside the host. */
  host: { width: number; height: number };
  returnFocus(): void;
}

/** A context menu. Focus returns to the grid when it closes. */
export class Menu {
  readonly element = make("div", "menu", { role: "menu", "aria-label": "Actions" });
  #returnFocus: () => void = () => undefined;
  /** A long press opens the menu under the finger. Lifting it is no choice. */
  #isPressed = false;

  constructor() {
    this.element.hidden = true;
    // The mouse events of the lifted finger would take the focus, and close the menu.
    this.element.addEventListener("mousedown", (event) => event.preventDefault());
    // The key of the menu also asks for the browser's menu, once this one has the focus.
    this.element.addEventListener("contextmenu", (event) => event.preventDefault());
    this.element.addEventListener("pointerdown", () => (this.#isPressed = true));
    this.element.addEventListener("keydown", (event) => this.#handleKey(event));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.element.hidden = true;
    });
  }

  open(items: readonly MenuItem[], { x, y, host, returnFocus }: MenuPlace): void {
    this.#returnFocus = returnFocus;
    this.#isPressed = false;
    const buttons = items.map((item) => {
      const button = make("button", "", { role: "menuitem", type: "button", tabindex: "-1" }, item.label);
      button.disabled = item.isDisabled;
      button.addEventListener("click", (event) => {
        // A click by key, or by assistive technology, has no press.
        if (!this.#isPressed && event.detail > 0) return;
        this.#close();
        item.run();
      });
      return button;
    });
    this.element.replaceChildren(...buttons);
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    moveTo(this.element, Math.max(0, Math.min(x, host.width - offsetWidth)), Math.max(0, Math.min(y, host.height - offsetHeight)));
    this.#enabledButtons()[0]?.focus();
  }

  #close(): void {
    this.element.hidden = true;
    this.#returnFocus();
  }

  #enabledButtons(): HTMLButtonElement[] {
    return [...this.element.querySelectorAll<HTMLButtonElement>("button:enabled")];
  }

  #handleKey(event: KeyboardEvent): void {
    const buttons = this.#enabledButtons();
    const focused = buttons.indexOf(event.target as HTMLButtonElement);
    if (event.key === "Escape" || event.key === "Tab") this.#close();
    else if (event.key === "ArrowDown") buttons[(focused + 1) % buttons.length]?.focus();
    else if (event.key === "ArrowUp") buttons[(focused - 1 + buttons.length) % buttons.length]?.focus();
    else return;
    event.preventDefault();
  }
}
