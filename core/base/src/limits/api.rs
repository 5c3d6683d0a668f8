//! Bounds of requests, replies, tokens and the webhook.

use super::log::MAX_ENTRY_BODY_BYTES;

/// Maximum number of mutations in one append request.
pub const MAX_MUTATIONS_PER_REQUEST: usize = 1_000;
/// Largest mutation id: exact as a JSON number.
pub const MAX_MUTATION_ID: u64 = (1 << 53) - 1;
/// Maximum number of times that one push looks up the last mutation id of a client; after that, the
/// client must repeat the push.
pub const MAX_PUSH_LOOK_UPS: u32 = 4;
/// Maximum bytes of a push. A Replicache client always sends all of its pending mutations.
pub const MAX_PUSH_BYTES: usize = MAX_REPLY_BYTES;
/// Maximum number of open connections that one process keeps for sending pokes.
pub const MAX_FOLLOWERS: usize = 1_000;
/// Maximum number of open connections for pokes per subject or per share link.
pub const MAX_FOLLOWERS_PER_SUBJECT: usize = 50;
/// Seconds after which a connection for pokes is closed; its client reconnects with a token that is
/// still valid.
pub const MAX_FOLLOWED_S: u64 = 5 * 60;
/// Seconds without traffic after which a connection for pokes sends a keep-alive.
pub const POKE_KEEP_ALIVE_S: u64 = 15;
/// Maximum number of clients of client groups whose last mutation id a process caches.
pub const MAX_CACHED_CLIENTS: usize = 4_096;
/// Maximum number of distinct bases of the mutations in one entry. Each base costs a pass over all
/// changes after it.
pub const MAX_BASES_PER_ENTRY: usize = 16;
/// Maximum number of operations after a base that moved rows, columns or sheets. An operation
/// counts as many times as it has spans, at least once; the author's own operations count several
/// times.
pub const MAX_TRANSFORM_CHANGES: usize = 20_000;
/// Maximum bytes of one mutation as JSON.
pub const MAX_MUTATION_BYTES: usize = 256 * 1024;
/// Maximum bytes of a request body.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// Maximum bytes of an oversized body that are read and discarded, so that its sender receives the
/// error response.
pub const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Maximum bytes of request bodies with a bearer token that one process buffers at the same time.
pub const MAX_KEPT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum bytes of request bodies with a share link that one process buffers at the same time.
/// Bodies with a bearer token are counted separately, because anyone can invent a share link.
pub const MAX_KEPT_LINK_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Seconds within which the body of a request must arrive.
pub const MAX_BODY_S: u64 = 60;
/// Seconds within which the local cloud must receive the headers of a request. An idle connection
/// is closed after the same time.
pub const MAX_HEADERS_S: u64 = 60;
/// Maximum number of open connections of one server of the local cloud; further connections wait.
pub const MAX_CONNECTIONS: usize = 2_000;
/// Maximum bytes of a reply with a list (load, entries, append, cells); a longer list is truncated
/// and has a `next`.
///
/// A Lambda reply is limited to 6 MB and is a string inside JSON, in which each quote and backslash
/// takes one more byte: at most twice these bytes, plus the last entry or cell.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Maximum bytes of spans (range formats, or inserted and deleted rows and columns) in a reply with
/// cells. Only the first page has spans; the rest of the page is for cells.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Maximum number of chunks in one request for URLs. Each URL contains a session token of up to 2
/// KB.
pub const MAX_CHUNK_URLS: usize = 1_000;
/// Maximum bytes of one span as JSON, including the following comma.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Maximum number of cells of one range, populated or not.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Maximum bytes of cells that one read may hold in memory while it replays the log.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum bytes of JSON of a replayed operation that can be split. Its entry contains it twice: as
/// sent and as transformed.
pub const MAX_REPLAYED_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2;
/// Maximum bytes of a bearer token.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Maximum lifetime of a token in seconds: one year. A single token cannot be revoked.
pub const MAX_TOKEN_S: u64 = 366 * 24 * 60 * 60;
/// Maximum number of spreadsheets that one token may name.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// Maximum bytes of an issuer's key set or discovery document.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Maximum number of keys that are read from an issuer's key set.
pub const MAX_KEY_SET_KEYS: usize = 32;
/// Seconds for which the cached keys of an issuer are used without a refresh.
pub const KEY_SET_FRESH_S: u64 = 60 * 60;
/// Seconds for which the cached keys of an issuer are used while the issuer does not respond.
pub const KEY_SET_STALE_S: u64 = 24 * 60 * 60;
/// Minimum seconds between two refreshes of an issuer's keys that are caused by an unknown key.
pub const KEY_SET_REFRESH_S: u64 = 60;
/// Seconds to wait before another request to an issuer that did not respond.
pub const KEY_SET_RETRY_S: u64 = 5;
/// Timeout of a request to an issuer, in milliseconds.
pub const KEY_SET_TIMEOUT_MS: u64 = 4_000;
/// Maximum number of feed items in one webhook delivery.
pub const WEBHOOK_ITEMS: u32 = 100;
/// Timeout of a webhook delivery, in milliseconds.
pub const WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Minimum remaining milliseconds of a webhook invocation for starting another delivery.
pub const WEBHOOK_RESERVE_MS: u64 = 20_000;
/// Maximum bytes of the object with the webhook's secrets.
pub const MAX_WEBHOOK_SECRETS_BYTES: u64 = 4 * 1024;
/// Maximum number of forks between a log and the origin of its family. Each fork is one more log to
/// read for the oldest entries.
pub const MAX_FORK_DEPTH: u32 = 16;
/// Maximum number of logs whose lineage a process caches.
pub const MAX_CACHED_LINEAGES: usize = 1_000;
/// Maximum number of forks on one page of a fork list.
pub const MAX_LISTED_FORKS: u32 = 100;
/// Maximum number of attempts to create one fork. Each attempt uses another number in the fork list
/// of the source.
pub const MAX_FORK_ATTEMPTS: u32 = 8;
/// Largest number in the `cellar-cost` header: a decimal in a structured field has at most 12
/// integer digits.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;
