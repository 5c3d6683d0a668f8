/** Limits of the data layer. Those of the server have the same values as in `core/base`. */

export { MAX_COLUMNS, MAX_ROWS } from "../base/sheet";
export const MAX_INSERTED_LINES = 2 ** 20;
export const MAX_CELLS_PER_EDIT = 10_000;
export const MAX_MUTATIONS_PER_REQUEST = 1_000;
/** Larger edits would need an uploaded body, which this client does not write. */
export const MAX_REQUEST_BYTES = 256 * 1024;
/** Leaves room for the rest of the request. */
export const MAX_EDIT_BYTES = 240 * 1024;
export const MAX_TEXT_LENGTH = 65_536;

export const BLOCK_ROWS = 128;
/** At most 32: a block stores the loaded columns of a row as bits of one number. */
export const BLOCK_COLUMNS = 32;
export const MAX_CACHED_CELLS = 200_000;
/** What an empty block counts in the cache, so that blank areas are bounded too. */
export const BLOCK_OVERHEAD_CELLS = 16;
/** Smaller sheets are loaded with a few requests. */
export const MIN_CELLS_FOR_CHUNKS = 100_000;
export const LOADS_BEFORE_CHUNKS = 4;
/** Cells that are stored for the next opening: of all spreadsheets, and of each one. */
export const MAX_STORED_BYTES = 32 * 2 ** 20;
export const MAX_STORED_SPREADSHEETS = 50;
export const MAX_STORED_BYTES_PER_SPREADSHEET = 2 ** 20;
/** After this many entries, loading a stored sheet again is cheaper than applying them. */
export const MAX_ENTRIES_AFTER_STORED = 500;
export const MAX_CONCURRENT_LOADS = 4;
/** Adjacent missing blocks that one request loads. */
export const MAX_BLOCKS_PER_REQUEST = 4;
/** A server that never ends a list of pages must not keep the client busy for ever. */
export const MAX_PAGES_PER_LOAD = 64;

export const POLL_MIN_MS = 1_000;
export const POLL_MAX_MS = 60_000;
/** A stream of pokes sends something every 15 seconds. After this time without anything it counts as lost. */
export const POKE_SILENCE_MS = 40_000;
export const REQUEST_TIMEOUT_MS = 20_000;
export const MAX_ATTEMPTS = 4;
/** After this many entries, loading the sheet again is cheaper than applying them. */
export const MAX_ENTRIES_TO_CATCH_UP = 5_000;
export const MAX_PENDING_EDITS = 1_000;
/** Without Web Locks, the edits of another tab count as abandoned after this time. */
export const ABANDONED_AFTER_MS = 60_000;
/** Looking for edits of closed tabs reads IndexedDB only, so it can be frequent. */
export const RECOVERY_INTERVAL_MS = 5_000;

/** The server shows a selection for this time after its announcement. */
export const PRESENCE_AGE_MS = 45_000;
/** With others, a selection that moves is announced, and those of others are read, at most this often. */
export const PRESENCE_MS = 2_000;
/** With others, a selection that does not move is announced again, so that it stays shown. */
export const RENEW_MS = 40_000;
export const ALONE_ANNOUNCE_MS = 30_000;
/** The selections of others are read for this time after one has moved. */
export const MOVED_MS = 60_000;
export const MAX_PRESENCE_DELAY_MS = 300_000;
/** Moves of rows and columns that are known, to find selections of earlier positions. */
export const MAX_KNOWN_MOVES = 1_000;
