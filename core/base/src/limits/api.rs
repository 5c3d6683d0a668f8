//! Bounds of requests, replies, tokens and the webhook.

use super::log::MAX_ENTRY_BODY_BYTES;

/// Mutations of one append request.
pub const MAX_MUTATIONS_PER_REQUEST: usize = 1_000;
/// The greatest id of a mutation: exact as a JSON number.
pub const MAX_MUTATION_ID: u64 = (1 << 53) - 1;
/// Times that one run of a push looks its client up before the push is to be repeated.
pub const MAX_PUSH_LOOK_UPS: u32 = 4;
/// Bytes of a push: a client of that protocol sends all that it has, and can send no less.
pub const MAX_PUSH_BYTES: usize = MAX_REPLY_BYTES;
/// Who may follow spreadsheets of one process at once, each with an open connection.
pub const MAX_FOLLOWERS: usize = 1_000;
/// How many of these connections one subject, or one link, may have.
pub const MAX_FOLLOWERS_PER_SUBJECT: usize = 50;
/// Seconds after which a connection that follows a spreadsheet ends: its client begins another, with
/// a token that is valid then.
pub const MAX_FOLLOWED_S: u64 = 5 * 60;
/// Seconds of silence after which such a connection says that it is alive.
pub const POKE_KEEP_ALIVE_S: u64 = 15;
/// Last mutation ids of clients of sync groups that a process knows.
pub const MAX_KNOWN_CLIENTS: usize = 4_096;
/// Bases of the mutations of one entry: each costs a walk over what has moved since.
pub const MAX_BASES_PER_ENTRY: usize = 16;
/// What moved rows, columns or sheets since a base: each operation counts its spans, at least one,
/// and an author's own several times.
pub const MAX_TRANSFORM_CHANGES: usize = 20_000;
/// Bytes of one mutation in the API's JSON.
pub const MAX_MUTATION_BYTES: usize = 256 * 1024;
/// Bytes of a request's body.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// Bytes that are read and dropped of a body that is too long, so that its sender gets an answer.
pub const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the bodies that one process keeps at once for requests with a token.
pub const MAX_KEPT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of the bodies that one process keeps at once for requests with a link. They are apart, as anyone
/// can make up a link.
pub const MAX_KEPT_LINK_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Seconds in which the body of a request must arrive.
pub const MAX_BODY_S: u64 = 60;
/// Seconds in which the local cloud must receive the headers of a request, and after which it closes an
/// idle connection.
pub const MAX_HEADERS_S: u64 = 60;
/// Connections that one server of the local cloud has open at once; further ones wait.
pub const MAX_CONNECTIONS: usize = 2_000;
/// Bytes of a list reply (load, update, append, cells); longer ones end with a `next`.
///
/// A Lambda reply is limited to 6 MB, and travels as a text inside JSON in which each quote and
/// backslash takes one byte more: at most twice these bytes, and the last entry or cell on top.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Bytes of a reply of cells that may be spans: of formats, or of rows and columns that differ.
/// They come whole or cut with the first page; the rest of it is for cells.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Chunks that one request asks the URLs of: each URL carries a session token of up to 2 KB.
pub const MAX_CHUNK_URLS: usize = 1_000;
/// Bytes of one span in the API's JSON, with the comma behind it.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Cells that one range may span, populated or not.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Bytes of cells that one read may hold in memory while it replays the log.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of JSON of an operation that a rebase replays, if it can be split: it stands in its entry twice,
/// as it was sent and as it was moved.
pub const MAX_REPLAYED_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2;
/// Bytes of a bearer token.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Seconds from a token's beginning to its end: a year. Tokens cannot be taken back one by one.
pub const MAX_TOKEN_S: u64 = 366 * 24 * 60 * 60;
/// Spreadsheets that one token may name.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// Bytes of an issuer's set of public keys, or of its description of itself.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Keys of a set that are looked at.
pub const MAX_KEY_SET_KEYS: usize = 32;
/// Seconds for which an issuer's keys are used without asking again.
pub const KEY_SET_FRESH_S: u64 = 60 * 60;
/// Seconds for which they are used while the issuer does not answer.
pub const KEY_SET_STALE_S: u64 = 24 * 60 * 60;
/// Seconds between two looks for a key that is not in an issuer's set.
pub const KEY_SET_REFRESH_S: u64 = 60;
/// Seconds before an issuer that did not answer is asked again.
pub const KEY_SET_RETRY_S: u64 = 5;
/// Milliseconds for which an issuer may take to answer.
pub const KEY_SET_TIMEOUT_MS: u64 = 4_000;
/// Items of the feed in one delivery of the webhook.
pub const WEBHOOK_ITEMS: u32 = 100;
/// Milliseconds for which the webhook's receiver may take to answer.
pub const WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Milliseconds of a call of the webhook that are left for one more delivery, at least.
pub const WEBHOOK_RESERVE_MS: u64 = 20_000;
/// Bytes of the object with the webhook's secrets.
pub const MAX_WEBHOOK_SECRETS_BYTES: u64 = 4 * 1024;
/// Forks that may lie between a log and the origin of its family: each is one more log to look at for
/// the oldest entries.
pub const MAX_FORK_DEPTH: u32 = 16;
/// Logs of which a process knows whether and where they were forked.
pub const MAX_KNOWN_LINEAGES: usize = 1_000;
/// Forks of one reply of their list.
pub const MAX_LISTED_FORKS: u32 = 100;
/// Tries of one fork, each under another number in the list of its source's forks.
pub const MAX_FORK_ATTEMPTS: u32 = 8;
/// The greatest number in a reply's `cellar-cost`: the digits of a decimal in a structured field.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;
