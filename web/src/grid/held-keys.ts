import { isComposing } from "./keys";

const GIVE_UP_MS = 3_000;
const POINTING = /^Arrow|^F4$/;
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

export interface HeldKeysUi {
  /** Loads what the keys need. */
  load(): Promise<unknown>;
  isLoaded(): boolean;
  /** Whether the text in the field is a formula, in which arrow keys point at cells. */
  isFormula(): boolean;
}

/** Keeps the keys that are pressed while the part that they need is loaded, and presses them again afterwards, in order. */
export class HeldKeys {
  #held: KeyboardEvent[] | null = null;
  #isPressing = false;

  constructor(
    private readonly root: ShadowRoot,
    private readonly ui: HeldKeysUi,
  ) {
    root.addEventListener("keydown", (event) => this.#handle(event as KeyboardEvent), true);
  }

  #handle(event: KeyboardEvent): void {
    if (this.#isPressing || this.ui.isLoaded() || isComposing(event)) return;
    const isControl = event.ctrlKey || event.metaKey;
    const isFind = isControl && !event.altKey && event.key.toLowerCase() === "f";
    const isRename = event.key === "F2" && this.root.activeElement?.getAttribute("role") === "tab";
    const isNeeding = isFind || isRename || event.key === "F9" || (POINTING.test(event.key) && this.ui.isFormula());
    if (this.#held ? (isControl && !isFind) || MODIFIERS.includes(event.key) : !isNeeding) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!this.#held) this.#start();
    this.#held!.push(event);
  }

  #start(): void {
    this.#held = [];
    const end = (): void => this.#press();
    const timer = setTimeout(end, GIVE_UP_MS);
    this.ui.load().then(end, end).finally(() => clearTimeout(timer));
  }

  #press(): void {
    const events = this.#held ?? [];
    this.#held = null;
    this.#isPressing = true;
    for (const event of events) this.#pressAgain(event);
    this.#isPressing = false;
  }

  /** The default action of a key that a script presses does not happen, so a character is typed here. */
  #pressAgain(event: KeyboardEvent): void {
    const { key, code, keyCode, ctrlKey, shiftKey, altKey, metaKey } = event;
    const target = this.root.activeElement;
    const again = new KeyboardEvent("keydown", { key, code, keyCode, ctrlKey, shiftKey, altKey, metaKey, bubbles: true, cancelable: true, composed: true });
    if (!target?.dispatchEvent(again)) return;
    const isField = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
    if (!isField || target.readOnly) return;
    const [start, end] = [target.selectionStart ?? 0, target.selectionEnd ?? 0];
    if ([...key].length === 1 && !ctrlKey && !metaKey) target.setRangeText(key, start, end, "end");
    else if (key === "Backspace") target.setRangeText("", start === end ? Math.max(0, start - 1) : start, end, "end");
    else return;
    target.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
}
