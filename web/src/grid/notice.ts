import { make } from "./dom";

const SHOWN_MS = 6_000;
/** Time to read the message, decide, and reach the button. */
const SHOWN_WITH_ACTION_MS = 24_000;

export interface NoticeAction {
  label: string;
  run(): void;
}

/** A message for the user, with a button if there is an action. It goes away by itself. */
export class Notice {
  readonly element = make("div", "notice", { role: "status" });
  #timer = 0;

  constructor(private readonly returnFocus: () => void) {
    this.element.hidden = true;
  }

  show(message: string, action?: NoticeAction): void {
    clearTimeout(this.#timer);
    this.element.replaceChildren(message, ...(action ? [this.#button(action)] : []));
    this.element.hidden = message === "";
    this.#timer = window.setTimeout(() => (this.element.hidden = true), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
  }

  #button({ label, run }: NoticeAction): HTMLButtonElement {
    const button = make("button", "", { type: "button" }, label);
    button.addEventListener("click", () => {
      this.element.hidden = true;
      run();
      this.returnFocus();
    });
    return button;
  }
}
