import { Clipboard } from "./clipboard";
import { ConfirmDialog } from "./dialog";
import { findLoaded } from "./find";
import { FindBar } from "./find-bar";
import { fittingWidth } from "./fitting-width";
import { FormulaAssist } from "./formula-assist";
import type { FieldContext } from "./formula-field";
import type { FormulaPointerUi } from "./formula-pointer";
import { Menu, type MenuItem } from "./menu";
import { menuItems } from "./menu-items";
import type { NoticeAction } from "./notice";
import { Others } from "./others";
import { TabActions } from "./tab-actions";
import type { View } from "./view";

/** What the parts need of the element. */
export interface PartsContext extends FieldContext, FormulaPointerUi {
  host: HTMLElement;
  tabs: HTMLElement;
  notice: HTMLElement;
  overlay: HTMLElement;
  status: HTMLElement;
  /** What was drawn last. */
  view(): View | null;
  notify(message: string, action?: NoticeAction): void;
}

export interface Created {
  clipboard: Clipboard;
  find: FindBar;
  formulas: FormulaAssist;
  others: Others;
  tabActions: TabActions;
  /** Opens the menu of the cells at a place of the window. */
  openMenu(clientX: number, clientY: number): void;
  /** Sets a column's width to that of its visible contents. */
  fitColumn(column: number): void;
}

/** Creates the parts that the first cells do not need, and adds their elements. */
export function createParts(context: PartsContext): Created {
  const { controller, editor, bar, notice, notify, tabs } = context;
  const dialog = new ConfirmDialog();
  const menu = new Menu();
  const find: FindBar = new FindBar(controller, { search: (text) => search(text, find, context), focusGrid: () => editor.focus() });
  bar.element.after(find.element);
  notice.before(menu.element, dialog.element);
  const confirm = (...question: Parameters<ConfirmDialog["ask"]>): Promise<boolean> => dialog.ask(...question);
  const clipboard = new Clipboard(controller, notify);
  const formulas = new FormulaAssist(context, context);
  const open = (items: readonly MenuItem[], clientX: number, clientY: number, returnFocus: () => void): void => {
    const host = context.host.getBoundingClientRect();
    menu.open(items, { x: clientX - host.left, y: clientY - host.top, host, returnFocus });
  };
  const openMenuAt = (items: readonly MenuItem[], at: HTMLElement): void => {
    const box = at.getBoundingClientRect();
    open(items, box.left, box.bottom, () => at.focus());
  };
  return {
    clipboard,
    find,
    formulas,
    others: new Others(controller, context),
    tabActions: new TabActions(tabs, { source: () => controller.source, notify, confirm, openMenu: openMenuAt }),
    openMenu: (x, y) => open(menuItems(controller, clipboard, () => formulas.toggleTrace()), x, y, () => editor.focus()),
    fitColumn: (column) => fitColumn(column, context),
  };
}

/** Asks the app, which asks the server and calls `preventDefault`; without it, searches the loaded cells. */
function search(text: string, find: FindBar, { host, controller, view }: PartsContext): void {
  const event = new CustomEvent("cellar-find", { detail: { text }, cancelable: true });
  const { source } = controller;
  const visible = view()?.visible;
  if (host.dispatchEvent(event) && source && visible) find.showFound(findLoaded(text, source, visible));
}

function fitColumn(column: number, { host, controller, view }: PartsContext): void {
  const shown = view();
  const width = shown ? fittingWidth(column, shown, host) : 0;
  if (width > 0) controller.setColumnWidth(column, width);
}
