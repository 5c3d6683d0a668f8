// Converts operations of Cellar (JSON) to equivalent commands of o-spreadsheet.

export const SHEET = "sheet";
export const SHEET_NAME = "Sheet1";
const GENERAL = "General";

/** Returns the commands of an operation in order. */
export function commandsOf(operation) {
    const [[kind, fields]] = Object.entries(operation);
    switch (kind) {
        case "setCells":
            return fields.cells.map(updateCell);
        case "clearRange":
            return [{ type: "DELETE_CONTENT", sheetId: SHEET, target: zones(fields) }];
        case "setFormat":
            return [
                {
                    type: "SET_FORMATTING",
                    sheetId: SHEET,
                    target: zones(fields),
                    format: formatOf(fields.format),
                },
            ];
        case "insertRows":
            return [insert("ROW", fields)];
        case "insertColumns":
            return [insert("COL", fields)];
        case "deleteRows":
            return [remove("ROW", fields)];
        case "deleteColumns":
            return [remove("COL", fields)];
        default:
            throw new Error(`no command for ${kind}`);
    }
}

function updateCell({ row, column, value, format }) {
    const command = { type: "UPDATE_CELL", sheetId: SHEET, row, col: column };
    // Absent fields stay unchanged.
    if (value !== undefined) command.content = value === null ? "" : String(value);
    if (format !== undefined) command.format = formatOf(format);
    return command;
}

function insert(dimension, { before, count }) {
    return {
        type: "ADD_COLUMNS_ROWS",
        sheetId: SHEET,
        sheetName: SHEET_NAME,
        dimension,
        base: before,
        position: "before",
        quantity: count,
    };
}

function remove(dimension, { spans }) {
    return {
        type: "REMOVE_COLUMNS_ROWS",
        sheetId: SHEET,
        sheetName: SHEET_NAME,
        dimension,
        elements: spans.flatMap(({ first, count }) =>
            Array.from({ length: count }, (_, offset) => first + offset),
        ),
    };
}

/** Returns the zones at the intersections of row spans and column spans. */
function zones({ rows, columns }) {
    return rows.flatMap((row) =>
        columns.map((column) => ({
            top: row.first,
            bottom: row.first + row.count - 1,
            left: column.first,
            right: column.first + column.count - 1,
        })),
    );
}

function formatOf(format) {
    return format === GENERAL ? "" : format;
}
