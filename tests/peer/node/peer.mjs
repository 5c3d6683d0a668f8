// Lets two users of o-spreadsheet edit one sheet concurrently. Reads lines of JSON: first the sheet, then pairs of
// edits: the committed operations of one user, and the operation of the other user, who has not seen them. Writes one
// line per pair: the final cells, which must be equal for both users.

import { createInterface } from "node:readline";
import { JSDOM } from "jsdom";
import { SHEET, SHEET_NAME, commandsOf } from "./commands.mjs";

const FIRST_REVISION = "START_REVISION";

const { CommandResult, Model, helpers } = await load();

/** Loads o-spreadsheet, which needs a browser window and a canvas that measures texts. */
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
    // o-spreadsheet logs the creation time of each model.
    console.debug = () => {};
    // The entry point that the package declares does not exist.
    return import("@odoo/o-spreadsheet/dist/o_spreadsheet.esm.js");
}

/** A server that accepts a revision only on top of the newest revision, and broadcasts accepted revisions. */
class Server {
    users = new Map();
    accepted = [];
    head = FIRST_REVISION;

    /** Returns the transport of one user, who is offline until `connect`. */
    transport() {
        const user = { seen: 0, connected: false, sent: [], receive: () => {} };
        return {
            user,
            onNewMessage: (id, receive) => {
                user.receive = receive;
                this.users.set(id, user);
            },
            sendMessage: async (message) => void user.sent.push(message),
            leave: (id) => void this.users.delete(id),
        };
    }

    connect(user) {
        user.connected = true;
        this.run();
    }

    /** Delivers messages until no connected user has messages to send or receive. */
    run() {
        const connected = [...this.users.values()].filter((user) => user.connected);
        for (let idle = false; !idle; ) {
            idle = true;
            for (const user of connected) {
                for (const message of user.sent.splice(0)) {
                    this.accept(message);
                    idle = false;
                }
                for (; user.seen < this.accepted.length; idle = false) {
                    user.receive(structuredClone(this.accepted[user.seen++]));
                }
            }
        }
    }

    accept(message) {
        if (!("nextRevisionId" in message) || message.serverRevisionId !== this.head) return;
        this.accepted.push(structuredClone(message));
        this.head = message.nextRevisionId;
    }
}

class User {
    constructor(server, name, sheet) {
        this.transport = server.transport();
        const config = { client: { id: name, name }, transportService: this.transport };
        this.model = new Model({ revisionId: FIRST_REVISION, sheets: [sheet] }, config);
        this.model.on("unexpected-revision-id", this, () => {
            throw new Error(`${name} got a revision out of order`);
        });
    }

    do(operation) {
        for (const { type, ...fields } of commandsOf(operation)) {
            const { isSuccessful, reasons } = this.model.dispatch(type, fields);
            // Commands that change nothing are also refused.
            if (!isSuccessful && !reasons.includes(CommandResult.NoChanges)) {
                throw new Error(`${type} is refused: ${reasons}`);
            }
        }
    }

    cells() {
        const { getters } = this.model;
        const cells = Object.keys(getters.getCells(SHEET)).map((id) => {
            const { row, col } = getters.getCellPosition(id);
            const { content, format } = getters.getCell({ sheetId: SHEET, row, col });
            return [row, col, content ?? "", format ?? ""];
        });
        return cells.sort((one, two) => one[0] - two[0] || one[1] - two[1]);
    }
}

function pair(sheet, { committed, mine }) {
    const server = new Server();
    const [first, second] = ["first", "second"].map((name) => new User(server, name, sheet));
    server.connect(first.transport.user);
    for (const operation of committed) {
        first.do(operation);
        server.run();
    }
    second.do(mine);
    server.connect(second.transport.user);
    if (!second.model.getters.isFullySynchronized()) throw new Error("the second user has unsent revisions");
    const cells = first.cells();
    const [one, two] = [cells, second.cells()].map((cells) => JSON.stringify(cells));
    if (one !== two) throw new Error(`the users do not converge: ${one} and ${two}`);
    return cells;
}

/** Returns the sheet of the first line, with its size and texts. */
function sheetOf({ rows, columns, cells }) {
    const texts = cells.map(([row, column, text]) => [helpers.toXC(column, row), text]);
    return {
        id: SHEET,
        name: SHEET_NAME,
        rowNumber: rows,
        colNumber: columns,
        cells: Object.fromEntries(texts),
    };
}

let sheet;
for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (!sheet) {
        sheet = sheetOf(message);
        continue;
    }
    let reply;
    try {
        reply = { cells: pair(sheet, message) };
    } catch (error) {
        reply = { error: String(error) };
    }
    process.stdout.write(`${JSON.stringify(reply)}\n`);
}
// Timers of the window would keep the process running.
process.exit(0);
