/** The object that `openSheet` returns. */

import { laterParts } from "./later";
import type { OpenedSheet } from "./open-sheet";
import { newSheet, renaming, sheetDeletion } from "./sheet-edits";
import type { Source } from "./source";

interface OpenerParts {
  unsentEdits: OpenedSheet["unsentEdits"];
  end: () => void;
}

export function sheetInterface(source: Source, { unsentEdits, end }: OpenerParts): OpenedSheet {
  const { view } = source.session;
  return {
    get sheets() {
      return source.sheets;
    },
    get sheet() {
      return source.sheet;
    },
    get extent() {
      return source.extent;
    },
    get status() {
      return source.status;
    },
    get names() {
      return view.canonical.names;
    },
    get others() {
      return source.presence?.others ?? [];
    },
    announce(selection) {
      source.selection = selection;
      source.presence?.select(selection);
    },
    trace: (row, column) => source.trace(row, column),
    selectSheet: (sheet) => source.selectSheet(sheet),
    cellAt: (row, column) => view.cell(source.sheet, row, column),
    isLoaded: (row, column) => view.isLoaded(source.sheet, row, column),
    request: (range) => source.request(range),
    subscribe: (listener) => source.subscribe(listener),
    setCells: (inputs) => source.setCells(inputs),
    insertRows: (before, count) => source.insert("insertRows", before, count),
    deleteRows: (first, count) => source.delete("deleteRows", first, count),
    insertColumns: (before, count) => source.insert("insertColumns", before, count),
    deleteColumns: (first, count) => source.delete("deleteColumns", first, count),
    addSheet: (name) => source.editAll(newSheet(source.nextSheet, name)),
    renameSheet: (sheet, name) => source.editAll(renaming(sheet, name, source.sheets)),
    deleteSheet: (sheet) => source.editAll(sheetDeletion(sheet, source.sheets)),
    undo: async () => (await laterParts()).undoLast(source),
    redo: async () => (await laterParts()).redoLast(source),
    unsentEdits,
    refresh: () => source.refresh(),
    close: end,
  };
}
