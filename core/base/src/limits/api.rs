//! Limits of requests, responses, tokens and the webhook.

use super::log::MAX_ENTRY_BODY_BYTES;

/// Maximum number of mutations in one append request.
pub const MAX_MUTATIONS_PER_REQUEST: usize = 1_000;
/// Maximum mutation id, which a JSON number represents exactly.
pub const MAX_MUTATION_ID: u64 = (1 << 53) - 1;
/// Maximum number of lookups of a client's last mutation id per push. If exceeded, the client must
/// retry the push.
pub const MAX_PUSH_LOOK_UPS: u32 = 4;
/// Maximum size of a push, in bytes. High, because a Replicache client always sends all of its
/// pending mutations.
pub const MAX_PUSH_BYTES: usize = MAX_REPLY_BYTES;
/// Maximum number of open poke connections (streams of change hints) per process.
pub const MAX_FOLLOWERS: usize = 1_000;
/// Maximum number of open poke connections per subject or share link.
pub const MAX_FOLLOWERS_PER_SUBJECT: usize = 50;
/// Lifetime of a poke connection, in seconds. The client then reconnects with a token that is still
/// valid.
pub const MAX_FOLLOWED_S: u64 = 5 * 60;
/// Idle time before a keep-alive is sent on a poke connection, in seconds.
pub const POKE_KEEP_ALIVE_S: u64 = 15;
/// Maximum number of clients in client groups whose last mutation ids are cached by a process.
pub const MAX_CACHED_CLIENTS: usize = 4_096;
/// Maximum number of distinct base positions among the mutations in one entry. Each base requires a
/// separate pass over all later changes.
pub const MAX_BASES_PER_ENTRY: usize = 16;
/// Maximum cost of transforming a mutation past the changes after its base. Each operation that
/// moves rows, columns or sheets costs one unit per deleted span, and at least one unit. Operations
/// from the mutation's own client cost more.
pub const MAX_TRANSFORM_CHANGES: usize = 20_000;
/// Maximum size of one mutation as JSON, in bytes.
pub const MAX_MUTATION_BYTES: usize = 256 * 1024;
/// Maximum size of a request body, in bytes.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes of an oversized body that are read and discarded so that its sender
/// receives the error response.
pub const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Maximum total size of the request bodies that one process buffers concurrently for requests with
/// a bearer token, in bytes.
pub const MAX_KEPT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum total size of the request bodies that one process buffers concurrently for requests with
/// a share link, in bytes. Separate from the limit for bearer tokens, because anyone can send a
/// request with a made-up share link.
pub const MAX_KEPT_LINK_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Timeout for receiving a request body, in seconds.
pub const MAX_BODY_S: u64 = 60;
/// Timeout for receiving request headers in the local stack, in seconds. Also the idle timeout of
/// connections.
pub const MAX_HEADERS_S: u64 = 60;
/// Maximum number of open connections per server of the local stack. Additional connections are
/// queued.
pub const MAX_CONNECTIONS: usize = 2_000;
/// Maximum size of a list response (load, entries, append, cells), in bytes. A longer list is
/// truncated, and the response contains `next`.
///
/// Lambda limits a response to 6 MB and transmits it as a JSON string, in which each quote and
/// backslash takes an additional byte. A response may therefore take up to twice this size, plus
/// the last entry or cell.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Maximum total size of the spans (range formats, or inserted and deleted rows and columns) in a
/// response with cells, in bytes. Only the first page contains spans; the rest of that page
/// contains cells.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Maximum number of chunk URLs per request. Each URL contains a session token of up to 2 KB.
pub const MAX_CHUNK_URLS: usize = 1_000;
/// Maximum size of one span as JSON, in bytes, including the trailing comma.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Maximum number of cells in a requested range, including empty cells.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Maximum memory for cells during a read that replays the log, in bytes.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum JSON size of a replayed operation that can be split, in bytes. The operation's entry
/// contains it twice: as sent and as transformed.
pub const MAX_REPLAYED_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2;
/// Maximum length of a bearer token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Maximum lifetime of a token in seconds (one year). Individual tokens cannot be revoked.
pub const MAX_TOKEN_S: u64 = 366 * 24 * 60 * 60;
/// Maximum number of spreadsheets listed in a token.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// Maximum size of an issuer's key set or discovery document, in bytes.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Maximum number of keys read from an issuer's key set.
pub const MAX_KEY_SET_KEYS: usize = 32;
/// Refresh interval of an issuer's cached keys, in seconds.
pub const KEY_SET_FRESH_S: u64 = 60 * 60;
/// Maximum age of an issuer's cached keys while the issuer is unavailable, in seconds.
pub const KEY_SET_STALE_S: u64 = 24 * 60 * 60;
/// Minimum interval between refreshes of an issuer's keys that are triggered by tokens with unknown
/// keys, in seconds.
pub const KEY_SET_REFRESH_S: u64 = 60;
/// Delay before another request to an unavailable issuer, in seconds.
pub const KEY_SET_RETRY_S: u64 = 5;
/// Timeout of a request to an issuer, in milliseconds.
pub const KEY_SET_TIMEOUT_MS: u64 = 4_000;
/// Maximum number of feed items in one webhook delivery.
pub const WEBHOOK_ITEMS: u32 = 100;
/// Timeout of a webhook delivery, in milliseconds.
pub const WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Minimum time that must remain in a webhook invocation to start another delivery, in
/// milliseconds.
pub const WEBHOOK_RESERVE_MS: u64 = 20_000;
/// Maximum size of the webhook secrets object, in bytes.
pub const MAX_WEBHOOK_SECRETS_BYTES: u64 = 4 * 1024;
/// Maximum number of forks in the chain from a log to its original log. With each fork, reading the
/// oldest entries requires one more log.
pub const MAX_FORK_DEPTH: u32 = 16;
/// Maximum number of logs whose lineages (fork sources) are cached by a process.
pub const MAX_CACHED_LINEAGES: usize = 1_000;
/// Maximum number of forks per page of a fork list.
pub const MAX_LISTED_FORKS: u32 = 100;
/// Maximum number of attempts to create a fork. Each attempt uses a different number in the
/// source's fork list.
pub const MAX_FORK_ATTEMPTS: u32 = 8;
/// Maximum value of a number in the `cellar-cost` header. Structured fields allow at most 12
/// integer digits in a decimal.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;
