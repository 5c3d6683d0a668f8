// Prints how o-spreadsheet updates references. The first line of output is a JSON array of references. Each other line is
// a JSON object with a list of steps and the references after each step. To update the expected results, run
// `node facts.mjs > o-spreadsheet.jsonl` in a folder with the packages of tests/peer/node. Only this script needs
// o-spreadsheet, which is licensed under LGPL-3.0.

import { JSDOM } from "jsdom";

const LISTS = 80;
const MOVES = 50;
/** Number of rows and columns of each sheet. */
const SIDE = 40;
/** Column and first row of the formulas, which no step deletes or overwrites. */
const FORMULA_COLUMN = 30;
const FORMULA_ROW = 20;
const SHEETS = ["Sheet1", "Sheet2"];
const REFERENCES = [
    "B2", "$C$3", "B$4", "A1:A1", "B2:D4", "$B2:D$4", "C3:F8", "A2:B9", "B:D", "$C:C", "2:4", "$3:3",
    "Sheet2!B2", "Sheet2!B2:D4", "Sheet2!$C$3:F8", "Sheet2!B:D", "Sheet2!2:4", "Sheet1!C3:F8",
];

const { Model } = await load();

async function load() {
    const { window } = new JSDOM("", { pretendToBeVisual: true });
    window.Path2D = class {};
    window.HTMLCanvasElement.prototype.getContext = () => ({
        measureText: () => ({ width: 0 }),
        save: () => {},
        restore: () => {},
    });
    globalThis.window = window;
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(window))) {
        if (!(name in globalThis)) Object.defineProperty(globalThis, name, property);
    }
    console.debug = () => {};
    // The entry point that the package declares does not exist.
    return import("@odoo/o-spreadsheet/dist/o_spreadsheet.esm.js");
}

let state = 1n;
/** Returns a pseudorandom integer in `0..limit`. The sequence is the same in each run. */
function random(limit) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number((state >> 33n) % BigInt(limit));
}

function newModel() {
    const formulas = Object.fromEntries(
        REFERENCES.map((reference, index) => [cell(FORMULA_COLUMN, FORMULA_ROW + index), `=SUM(${reference})`]),
    );
    const sheets = SHEETS.map((name, index) => ({
        id: name, name, rowNumber: SIDE, colNumber: SIDE, cells: index === 0 ? formulas : {},
    }));
    return new Model({ sheets });
}

function cell(column, row) {
    const letters = column < 26 ? String.fromCharCode(65 + column) : `A${String.fromCharCode(65 + column - 26)}`;
    return `${letters}${row + 1}`;
}

function step() {
    const dimension = ["Rows", "Columns"][random(2)];
    const sheet = SHEETS[random(2)];
    if (random(2) === 0) return { [`insert${dimension}`]: { sheet, before: random(10), count: 1 + random(2) } };
    const elements = [...new Set(Array.from({ length: 1 + random(3) }, () => random(10)))].sort((a, b) => a - b);
    return { [`delete${dimension}`]: { sheet, elements } };
}

function apply(model, step) {
    const [[kind, { sheet, before, count, elements, newName, from, to }]] = Object.entries(step);
    const dimension = kind.endsWith("Rows") ? "ROW" : "COL";
    const sheetId = sheet;
    const common = { sheetId, sheetName: sheet, dimension };
    if (kind.startsWith("insert")) {
        return model.dispatch("ADD_COLUMNS_ROWS", { ...common, base: before, position: "before", quantity: count });
    }
    if (kind === "renameSheet") return model.dispatch("RENAME_SHEET", { sheetId, oldName: sheet, newName });
    if (kind === "deleteSheet") return model.dispatch("DELETE_SHEET", { sheetId, sheetName: sheet });
    if (kind === "moveBlock") {
        const zone = { left: from[1], top: from[0], right: from[3], bottom: from[2] };
        return model.dispatch("MOVE_RANGES", {
            target: [zone], sheetId, targetSheetId: to[0], col: to[2], row: to[1],
        });
    }
    return model.dispatch("REMOVE_COLUMNS_ROWS", { ...common, elements });
}

function references(model) {
    const found = [];
    const sheet = SHEETS[0];
    const cells = Object.keys(model.getters.getCells(sheet)).map((id) => ({
        ...model.getters.getCellPosition(id),
        content: model.getters.getCell(model.getters.getCellPosition(id)).content,
    }));
    cells.sort((one, other) => one.row - other.row);
    for (const { content } of cells) found.push(content.slice("=SUM(".length, -1));
    return found;
}

function print(steps) {
    const model = newModel();
    const results = steps.map((step) => {
        const { isSuccessful, reasons } = apply(model, step);
        if (!isSuccessful) throw new Error(`${JSON.stringify(step)}: ${reasons}`);
        return references(model);
    });
    process.stdout.write(`${JSON.stringify({ steps, results })}\n`);
}

process.stdout.write(`${JSON.stringify(REFERENCES)}\n`);
for (let list = 0; list < LISTS; list++) print(Array.from({ length: 1 + random(4) }, step));
for (let move = 0; move < MOVES; move++) {
    const [top, left] = [random(5), random(5)];
    const from = [top, left, top + random(8), left + random(8)];
    const to = [SHEETS[random(2)], 10 + random(3), 15 + random(3)];
    print([{ moveBlock: { sheet: SHEETS[random(2)], from, to } }]);
}
print([{ renameSheet: { sheet: "Sheet2", newName: "My sheet" } }, { deleteSheet: { sheet: "Sheet2" } }]);
process.exit(0);
