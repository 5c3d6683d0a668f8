import { make } from "./dom";

/** Asks before something that is hard to take back. A native dialog keeps the focus inside and closes by Escape. */
export class ConfirmDialog {
  readonly #title = make("h2", "", { id: "dialog-title" });
  readonly #text = make("p", "", { id: "dialog-text" });
  readonly #cancel = make("button", "", { type: "button" }, "Cancel");
  readonly #confirm = make("button", "danger", { type: "button" });
  readonly element = make(
    "dialog", "dialog", { role: "alertdialog", "aria-labelledby": "dialog-title", "aria-describedby": "dialog-text" },
    this.#title, this.#text, make("div", "dialog-buttons", {}, this.#cancel, this.#confirm),
  );

  constructor() {
    this.#cancel.addEventListener("click", () => this.element.close(""));
    this.#confirm.addEventListener("click", () => this.element.close("confirm"));
    // Keys of the dialog are no commands of the grid.
    this.element.addEventListener("keydown", (event) => event.stopPropagation());
  }

  ask(title: string, text: string, action: string): Promise<boolean> {
    this.#title.textContent = title;
    this.#text.textContent = text;
    this.#confirm.textContent = action;
    this.element.returnValue = "";
    this.element.showModal();
    // The harmless button has the focus, so that Enter deletes nothing.
    this.#cancel.focus();
    return new Promise((resolve) => {
      this.element.addEventListener("close", () => resolve(this.element.returnValue === "confirm"), { once: true });
    });
  }
}
