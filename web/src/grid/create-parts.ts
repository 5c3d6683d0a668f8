import { Clipboard } from "./clipboard";
import type { NoticeAction } from "./controller";
import { ConfirmDialog } from "./dialog";
import { FindBar } from "./find-bar";
import { FormulaAssist } from "./formula-assist";
import type { FieldContext } from "./formula-field";
import type { FormulaPointerUi } from "./formula-pointer";
import { Menu, type MenuItem } from "./menu";
import { Others } from "./others";
import { TabActions } from "./tab-actions";

/** What the parts need of the element. */
export interface PartsContext extends FieldContext, FormulaPointerUi {
  tabs: HTMLElement;
  notice: HTMLElement;
  overlay: HTMLElement;
  status: HTMLElement;
  notify(message: string, action?: NoticeAction): void;
  search(text: string): void;
  openMenuAt(items: readonly MenuItem[], at: HTMLElement): void;
}

export interface Created {
  clipboard: Clipboard;
  find: FindBar;
  formulas: FormulaAssist;
  menu: Menu;
  others: Others;
  tabActions: TabActions;
}

/** Creates the parts that the first cells do not need, and adds their elements. */
export function createParts(context: PartsContext): Created {
  const { controller, editor, bar, notice, notify, openMenuAt, search, tabs } = context;
  const dialog = new ConfirmDialog();
  const find = new FindBar(controller, { search, focusGrid: () => editor.focus() });
  const menu = new Menu();
  bar.element.after(find.element);
  notice.before(menu.element, dialog.element);
  const confirm = (...question: Parameters<ConfirmDialog["ask"]>): Promise<boolean> => dialog.ask(...question);
  return {
    clipboard: new Clipboard(controller, notify),
    find,
    formulas: new FormulaAssist(context, context),
    menu,
    others: new Others(controller, context),
    tabActions: new TabActions(tabs, { source: () => controller.source, notify, confirm, openMenu: openMenuAt }),
  };
}
