//! Bounds of requests, replies, tokens and the webhook.

use super::log::MAX_ENTRY_BODY_BYTES;

/// Mutations in one append request.
pub const MAX_MUTATIONS_PER_REQUEST: usize = 1_000;
/// Largest mutation id: exact as a JSON number.
pub const MAX_MUTATION_ID: u64 = (1 << 53) - 1;
/// Lookups of a client during one run of a push; after that, the client must repeat the push.
pub const MAX_PUSH_LOOK_UPS: u32 = 4;
/// Bytes of a push. A Replicache client sends everything it has and cannot send less.
pub const MAX_PUSH_BYTES: usize = MAX_REPLY_BYTES;
/// Open connections of one process for pokes.
pub const MAX_FOLLOWERS: usize = 1_000;
/// Open connections for pokes of one subject or one share link.
pub const MAX_FOLLOWERS_PER_SUBJECT: usize = 50;
/// Seconds after which a connection for pokes closes; its client reconnects with a token that is
/// valid then.
pub const MAX_FOLLOWED_S: u64 = 5 * 60;
/// Seconds of silence after which a connection for pokes sends a keep-alive.
pub const POKE_KEEP_ALIVE_S: u64 = 15;
/// Clients of client groups whose last mutation id a process caches.
pub const MAX_KNOWN_CLIENTS: usize = 4_096;
/// Distinct bases of the mutations in one entry: each costs a walk over all changes after it.
pub const MAX_BASES_PER_ENTRY: usize = 16;
/// Operations after a base that moved rows, columns or sheets. Each counts its spans, at least one;
/// the author's own count several times.
pub const MAX_TRANSFORM_CHANGES: usize = 20_000;
/// Bytes of one mutation as JSON.
pub const MAX_MUTATION_BYTES: usize = 256 * 1024;
/// Bytes of a request body.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// Bytes of an oversized body that are read and discarded, so that its sender receives the error
/// response.
pub const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of request bodies with a bearer token that one process buffers at once.
pub const MAX_KEPT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of request bodies with a share link that one process buffers at once. Counted separately,
/// because anyone can invent a link.
pub const MAX_KEPT_LINK_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Seconds in which the body of a request must arrive.
pub const MAX_BODY_S: u64 = 60;
/// Seconds in which the local cloud must receive the headers of a request, and after which it
/// closes an idle connection.
pub const MAX_HEADERS_S: u64 = 60;
/// Open connections of one server of the local cloud; further ones wait.
pub const MAX_CONNECTIONS: usize = 2_000;
/// Bytes of a reply with a list (load, entries, append, cells); a longer list is truncated and has
/// a `next`.
///
/// A Lambda reply is limited to 6 MB and is a string inside JSON, in which each quote and backslash
/// takes one more byte: at most twice these bytes, plus the last entry or cell.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Bytes of a cells reply for spans: range formats, or inserted and deleted rows and columns. Only
/// the first page has them, possibly truncated; the rest of the page is for cells.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Chunks in one request for URLs: each URL contains a session token of up to 2 KB.
pub const MAX_CHUNK_URLS: usize = 1_000;
/// Bytes of one span as JSON, including the following comma.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Cells of one range, populated or not.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Bytes of cells that one read may hold in memory while it replays the log.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of JSON of a replayed operation that can be split. Its entry contains it twice: as sent
/// and as transformed.
pub const MAX_REPLAYED_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2;
/// Bytes of a bearer token.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Lifetime of a token in seconds: one year. Tokens cannot be revoked one by one.
pub const MAX_TOKEN_S: u64 = 366 * 24 * 60 * 60;
/// Spreadsheets that one token may name.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// Bytes of an issuer's key set or discovery document.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Keys of a key set that are examined.
pub const MAX_KEY_SET_KEYS: usize = 32;
/// Seconds for which an issuer's keys are used without a refresh.
pub const KEY_SET_FRESH_S: u64 = 60 * 60;
/// Seconds for which an issuer's keys are used while the issuer does not respond.
pub const KEY_SET_STALE_S: u64 = 24 * 60 * 60;
/// Seconds between two refreshes caused by an unknown key.
pub const KEY_SET_REFRESH_S: u64 = 60;
/// Seconds before an issuer that did not respond is asked again.
pub const KEY_SET_RETRY_S: u64 = 5;
/// Timeout of a request to an issuer, in milliseconds.
pub const KEY_SET_TIMEOUT_MS: u64 = 4_000;
/// Feed items in one webhook delivery.
pub const WEBHOOK_ITEMS: u32 = 100;
/// Timeout of a webhook delivery, in milliseconds.
pub const WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Milliseconds that must be left of a webhook invocation to start another delivery.
pub const WEBHOOK_RESERVE_MS: u64 = 20_000;
/// Bytes of the object with the webhook's secrets.
pub const MAX_WEBHOOK_SECRETS_BYTES: u64 = 4 * 1024;
/// Forks between a log and the origin of its family: each is one more log to read for the oldest
/// entries.
pub const MAX_FORK_DEPTH: u32 = 16;
/// Logs whose lineage a process caches.
pub const MAX_KNOWN_LINEAGES: usize = 1_000;
/// Forks on one page of a fork list.
pub const MAX_LISTED_FORKS: u32 = 100;
/// Attempts to create one fork, each with another number in its source's fork list.
pub const MAX_FORK_ATTEMPTS: u32 = 8;
/// Largest number in the `cellar-cost` header: the digits of a decimal in a structured field.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;
