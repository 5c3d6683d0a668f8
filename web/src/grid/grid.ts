import type { Mark, SheetSource } from "../data/types";
import { parseRange, rangeName } from "./address";
import { Announcer } from "./announcer";
import { attachClipboard } from "./clipboard-events";
import { editText } from "./cell-text";
import { explainBy } from "./cell-view";
import { CommandRunner } from "./commands";
import type { Created } from "./create-parts";
import type { ColumnWidthStore } from "./column-widths";
import { Controller } from "./controller";
import { make, takeEarlyProperties } from "./dom";
import { Editor } from "./editor";
import { FormulaBar } from "./formula-bar";
import { FormulaBarEvents } from "./formula-events";
import type { FoundCells } from "./find";
import { Frame } from "./frame";
import { HeldKeys } from "./held-keys";
import { Later, type Parts } from "./later";
import { MAX_COLUMNS, MAX_ROWS } from "./limits";
import { Notice, type NoticeAction } from "./notice";
import { Overlay } from "./overlay";
import { Pointer } from "./pointer";
import { Scroller } from "./scroller";
import { currentRange, type Selection } from "./selection";
import { StatusLine } from "./status-line";
import { STYLE } from "./style";
import { SheetTabs } from "./tabs";

const HELP =
  "Arrow keys move between cells. Type to replace a cell, F2 edits it. Control G goes to a cell, Control F finds texts, F9 shows precedents and dependents. " +
  "Press Escape, then Tab to leave the grid. Alt Shift Left and Right resize the column. Shift F10 opens the menu.";

/**
 * `<cellar-grid>`: shows and edits a sheet.
 *
 * Attributes `no-formula-bar`, `no-status` and `no-tabs` hide parts; `no-sync-status` hides
 * edits that wait and problems; `tab-leaves` lets Tab leave the grid at once.
 * Events: `cellar-selection` when the selection changes, `cellar-notice` with a message for the user, `cellar-find` with
 * the text to find: an app that asks the server calls `preventDefault` and later `showFound`.
 */
export class CellarGrid extends HTMLElement {
  static readonly observedAttributes = ["no-formula-bar", "no-status", "no-sync-status", "no-tabs"];

  readonly #root = this.attachShadow({ mode: "open" });
  readonly #controller = new Controller({
    invalidate: () => this.#invalidate(),
    notify: (message, action) => this.#notify(message, action),
    editorText: () => this.#editor.element.value,
    setEditorText: (text) => (this.#editor.element.value = text),
    onSelectionChange: () => (this.#isSelectionChanged = true),
    useParts: (run) => this.#later.use(run),
  });
  readonly #bar = new FormulaBar();
  readonly #status = new StatusLine();
  readonly #tabs = new SheetTabs({
    source: () => this.#controller.source,
    show: (sheet) => this.#showSheet(sheet),
    use: (run) => this.#use(({ tabActions }) => run(tabActions)),
  });
  readonly #announcer = new Announcer();
  readonly #overlay = new Overlay();
  readonly #notice = new Notice(() => this.focus());
  readonly #scroller = new Scroller((action) => this.#controller.scroll(action), () => this.#handleIdle());
  readonly #commands = new CommandRunner(this.#controller, {
    focusNameBox: () => this.#focusNameBox(),
    openFind: () => this.#use(({ find }) => find.open()),
    editorElement: () => this.#editor.element,
    openMenu: (x, y) => this.#use((created) => created.openMenu(x, y)),
  });
  readonly #editor = new Editor(this.#controller, (command) => this.#runCommand(command), () => this.hasAttribute("tab-leaves"));
  readonly #frame = new Frame(this.#controller, this.#scroller, this.#overlay, this.#editor);
  readonly #observer = new ResizeObserver(() => this.#invalidate());
  readonly #pointer: Pointer;
  readonly #barEvents: FormulaBarEvents;
  readonly #later = new Later((parts) => this.#create(parts), (message) => this.#notify(message));
  #created: Created | null = null;
  #isSelectionChanged = false;
  #frameRequest = 0;
  #statusTimer = 0;

  constructor() {
    super();
    this.#adopt(STYLE);
    const foot = make("div", "foot", {}, this.#tabs.element, this.#status.element);
    const help = make("div", "quiet", { id: "help" }, HELP);
    this.#root.append(this.#bar.element, this.#scroller.element, foot, this.#notice.element, this.#announcer.element, help);
    this.#attachKeys();
    this.#pointer = new Pointer(this.#controller, this.#editor, this.#overlay, {
      viewport: this.#scroller.viewport,
      headerWidth: () => this.#frame.headerWidth,
      fitColumn: (column) => this.#use((created) => created.fitColumn(column)),
      openMenu: (x, y) => this.#use((created) => created.openMenu(x, y)),
    });
    attachClipboard(this.#editor.element, this.#controller, (run) => this.#use(({ clipboard }) => run(clipboard)));
    this.#barEvents = new FormulaBarEvents(this.#bar, this.#controller, this.#editor, {
      goTo: (text) => this.#goToText(text),
      notify: (message) => this.#notify(message),
    });
    takeEarlyProperties(this, ["source", "marks", "frozenRows", "columnWidths"]);
  }

  #adopt(text: string): void {
    const style = new CSSStyleSheet();
    style.replaceSync(text);
    this.#root.adoptedStyleSheets.push(style);
  }

  #attachKeys(): void {
    const root = this.#root;
    const later = this.#later;
    new HeldKeys(root, {
      load: () => later.load(),
      isLoaded: () => later.parts !== null,
      isFormula: () => this.#isFormulaFocused(),
    });
    // A press on a tab would take the focus from the formula.
    this.#tabs.element.addEventListener("mousedown", (event) => this.#isFormulaFocused() && event.preventDefault());
    for (const type of ["keydown", "pointerdown"]) root.addEventListener(type, () => void later.load().catch(() => undefined), { once: true });
  }

  #create(parts: Parts): void {
    this.#adopt(parts.LATER_STYLE);
    explainBy(parts.explain);
    this.#controller.dataVersion++;
    this.#created = parts.createParts({
      host: this,
      view: () => this.#frame.view,
      root: this.#root,
      controller: this.#controller,
      editor: this.#editor,
      bar: this.#bar,
      barEvents: this.#barEvents,
      tabs: this.#tabs.element,
      notice: this.#notice.element,
      overlay: this.#overlay.element,
      status: this.#status.element,
      viewport: this.#scroller.viewport,
      hit: (x, y) => this.#pointer.hit(x, y),
      notify: (message, action) => this.#notify(message, action),
    });
    this.#invalidate();
  }

  #use(run: (created: Created) => void): void {
    this.#later.use(() => run(this.#created!));
  }

  connectedCallback(): void {
    this.#observer.observe(this.#scroller.element);
    // The age of waiting edits grows without a change of the source.
    this.#statusTimer = window.setInterval(() => this.#controller.source?.status.pending && this.#invalidate(), 1_000);
    this.#invalidate();
  }

  disconnectedCallback(): void {
    this.#observer.disconnect();
    clearInterval(this.#statusTimer);
  }

  attributeChangedCallback(): void {
    this.#bar.element.hidden = this.hasAttribute("no-formula-bar");
    this.#status.element.hidden = this.hasAttribute("no-status");
    this.#tabs.element.hidden = this.hasAttribute("no-tabs");
    this.#status.isShowingSync = !this.hasAttribute("no-sync-status");
  }

  /** The data of the grid. The element does not close it. */
  get source(): SheetSource | null {
    return this.#controller.source;
  }

  set source(source: SheetSource | null) {
    this.#controller.setSource(source);
  }

  get selection(): Selection {
    return this.#controller.selection;
  }

  /** Highlighted cells. Marks move with inserted and deleted rows; the app removes them. */
  get marks(): readonly Mark[] {
    return this.#controller.marks.get("app");
  }

  set marks(marks: readonly Mark[]) {
    this.#controller.marks.set("app", marks);
    this.#controller.redraw();
  }

  /** Rows at the start that do not scroll. At most half of the grid's height is used for them. */
  get frozenRows(): number {
    return this.#controller.frozenRows;
  }

  set frozenRows(count: number) {
    this.#controller.frozenRows = Math.max(0, Math.floor(count) || 0);
    this.#controller.scroll({ kind: "resized" });
  }

  /** Shows what a search found. Call it again when the search has found more. */
  showFound(found: FoundCells): void {
    this.#use(({ find }) => find.showFound(found));
    this.#synchronizeSoon();
  }

  /** Loads and keeps the widths of columns, for one spreadsheet. */
  set columnWidths(store: ColumnWidthStore | null) {
    this.#controller.setWidthStore(store);
  }

  /** Goes to a cell or range such as `B2`, `B2:C9`, `2:9` or `1,204,332`. Returns false if the text is none. */
  goTo(text: string): boolean {
    const range = parseRange(text, Math.max(this.#controller.size.rows, 1), this.#controller.size.columns);
    if (!range || range.firstRow >= MAX_ROWS || range.firstColumn >= MAX_COLUMNS) return false;
    this.#controller.goTo(range);
    this.#synchronizeSoon();
    return true;
  }

  override focus(): void {
    this.#editor.focus();
  }

  #isFormulaFocused(): boolean {
    const field = this.#root.activeElement;
    return field instanceof HTMLTextAreaElement && field.value.startsWith("=");
  }

  /** Shows another sheet. A formula stays open, so that the user can point at the cells there. */
  #showSheet(sheet: number): void {
    const select = (): void => {
      // Stores a text that is open in the bar.
      if (this.#root.activeElement === this.#bar.formula) this.focus();
      this.#pointer.commitOpenText();
      this.#controller.source?.selectSheet(sheet);
    };
    if (this.#isFormulaFocused()) this.#use(({ formulas }) => formulas.showSheet(sheet) || select());
    else select();
  }

  #runCommand(command: Parameters<CommandRunner["run"]>[0]): void {
    this.#commands.run(command);
    this.#synchronizeSoon();
  }

  #goToText(text: string): boolean {
    const isRange = this.goTo(text);
    if (!isRange) this.#notify(`${text} is not a cell or range. Examples: B2, B2:C9, 2:9, 1204332`);
    return isRange;
  }

  #invalidate(): void {
    if (this.#frameRequest === 0) this.#frameRequest = requestAnimationFrame(() => this.#drawFrame());
  }

  #drawFrame(): void {
    this.#frameRequest = 0;
    this.#created?.formulas.update();
    const view = this.#frame.draw();
    const { source } = this.#controller;
    if (!view || !source) return;
    const { row, column } = view.selection.active;
    const isEditing = this.#controller.editState.mode !== "ready";
    const contents = isEditing ? this.#editor.element.value : editText(source.cellAt(row, column));
    const name = rangeName(currentRange(view.selection), this.#controller.size.rows, this.#controller.size.columns);
    this.#bar.draw(name, contents, !this.#controller.canEdit, this.#root.activeElement);
    this.#created?.formulas.draw(view);
    this.#status.draw(source.status, this.#later.parts?.summaryText(view.selection, source, view.visible) ?? "");
    this.#tabs.draw(source, this.#controller.canEdit);
    this.#created?.others.draw(view);
    if (source.isLoaded(view.visible.firstRow, view.visible.firstColumn)) this.#later.prepare();
    if (this.#isSelectionChanged || this.#announcer.isDue(view.selection, source)) {
      const labels = this.#controller.marks.labelsAt(source.sheet, row, column).concat(this.#created?.others.labelsAt(source.sheet, row, column) ?? []);
      this.#announcer.announce(view.selection, source, this.#controller.size, labels);
    }
    if (!this.#isSelectionChanged) return;
    this.#isSelectionChanged = false;
    this.dispatchEvent(new CustomEvent("cellar-selection", { detail: view.selection }));
  }

  /** After a move by keys or by "go to", the scrollbar follows in the frame that draws it. */
  #synchronizeSoon(): void {
    requestAnimationFrame(() => this.#scroller.synchronize(this.#controller.position, this.#controller.context));
  }

  #handleIdle(): void {
    this.#scroller.synchronize(this.#controller.position, this.#controller.context);
    this.#frame.sort();
  }

  #focusNameBox(): void {
    this.#bar.nameBox.focus();
    this.#bar.nameBox.select();
  }

  #notify(message: string, action?: NoticeAction): void {
    this.#notice.show(message, action);
    this.dispatchEvent(new CustomEvent("cellar-notice", { detail: message }));
  }
}
