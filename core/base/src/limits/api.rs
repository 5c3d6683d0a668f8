//! Limits of requests, responses, tokens and the webhook.

use super::log::MAX_ENTRY_BODY_BYTES;

/// Maximum number of mutations per append request.
pub const MAX_MUTATIONS_PER_REQUEST: usize = 1_000;
/// Maximum mutation id: the largest integer that every JSON parser represents exactly.
pub const MAX_MUTATION_ID: u64 = (1 << 53) - 1;
/// Maximum number of lookups of a client's last mutation id per push. After that many lookups, the
/// push fails and the client must retry it.
pub const MAX_PUSH_LOOK_UPS: u32 = 4;
/// Maximum size of a push request, in bytes. The limit is high because a Replicache client always
/// sends all of its pending mutations at once.
pub const MAX_PUSH_BYTES: usize = MAX_REPLY_BYTES;
/// Maximum number of open connections per process for streaming change notifications to clients.
pub const MAX_FOLLOWERS: usize = 1_000;
/// Maximum number of open connections per user or share link for streaming change notifications.
pub const MAX_FOLLOWERS_PER_SUBJECT: usize = 50;
/// Lifetime of a connection for change notifications, in seconds. When the client reconnects, its
/// token is checked again.
pub const MAX_FOLLOWED_S: u64 = 5 * 60;
/// Interval between keep-alive messages on an idle connection for change notifications, in seconds.
pub const POKE_KEEP_ALIVE_S: u64 = 15;
/// Maximum number of clients of a spreadsheet whose selections are stored at a time. The selection of
/// a further client is not shown to others.
pub const PRESENCE_SLOTS: u32 = 64;
/// Time after which a selection that its client does not announce again is no longer shown, in
/// milliseconds.
pub const PRESENCE_AGE_MS: u64 = 45_000;
/// Maximum number of slots that one request tries to store a selection in. Another client may take a
/// free slot first.
pub const PRESENCE_ATTEMPTS: usize = 4;
/// Maximum number of Replicache clients whose last mutation ids are cached by a process.
pub const MAX_CACHED_CLIENTS: usize = 4_096;
/// Maximum number of distinct base positions among the mutations in one entry. For each base, the
/// mutations are transformed past all later changes in a separate pass.
pub const MAX_BASES_PER_ENTRY: usize = 16;
/// Maximum cost of transforming a mutation past the changes that were committed after its base. An
/// operation that moves rows, columns or sheets costs one unit per deleted span, but at least one
/// unit. Operations from the mutation's own client cost more.
pub const MAX_TRANSFORM_CHANGES: usize = 20_000;
/// Maximum size of the JSON encoding of a mutation, in bytes.
pub const MAX_MUTATION_BYTES: usize = 256 * 1024;
/// Maximum size of a request body, in bytes.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes that the server discards after rejecting an oversized request body.
/// Reading them ensures that the client receives the error response.
pub const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Maximum memory that a process uses to buffer the bodies of concurrent requests with a bearer
/// token, in bytes.
pub const MAX_KEPT_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum memory that a process uses to buffer the bodies of concurrent requests with a share
/// link, in bytes. This limit is separate from the limit for bearer tokens because anyone can send
/// a request with a made-up share link.
pub const MAX_KEPT_LINK_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Timeout for receiving a request body, in seconds.
pub const MAX_BODY_S: u64 = 60;
/// Timeout for receiving request headers in the local stack, in seconds. It is also the idle
/// timeout of connections.
pub const MAX_HEADERS_S: u64 = 60;
/// Maximum number of open connections per server of the local stack. Further connections wait in a
/// queue.
pub const MAX_CONNECTIONS: usize = 2_000;
/// Maximum size of the list in a response, in bytes. A longer list is truncated, and the response
/// contains a cursor `next`.
///
/// A response may be slightly more than twice this size. Lambda transmits it as a JSON string, in
/// which each quote and backslash takes an additional byte, and the last element of the list may
/// exceed the limit. Lambda limits a response to 6 MB.
pub const MAX_REPLY_BYTES: usize = 2 * 1024 * 1024 + 512 * 1024;
/// Maximum total size of the row and column spans in a response with cells, in bytes. Only the
/// first page contains spans, and the limit reserves space for cells on that page.
pub const MAX_REPLY_SPANS_BYTES: usize = MAX_REPLY_BYTES / 2;
/// Maximum number of chunks whose download URLs can be requested at once. Each URL contains a
/// session token of up to 2 KB.
pub const MAX_CHUNK_URLS: usize = 1_000;
/// Maximum size of the JSON encoding of a span, including the trailing comma, in bytes.
pub const MAX_SPAN_JSON_BYTES: usize = 40;
/// Maximum number of cells in a requested range. Empty cells are counted too.
pub const MAX_RANGE_CELLS: u64 = 1 << 24;
/// Maximum memory for the cells of a read that replays the log, in bytes.
pub const MAX_REPLAY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of formulas whose lost references one undo or revert of a deletion restores, and of
/// those that follow an import which replaces their sheet.
pub const MAX_UNDO_FORMULAS: usize = 2_000;
/// Maximum number of entries that one request for the history of cells reads. If a sheet was recovered,
/// at most as many are searched for its deletion.
pub const MAX_CELL_HISTORY_ENTRIES: u32 = 1_000;
/// Total size of the entries, including their external bodies, after which a request for the history
/// of cells reads no further entry, in bytes.
pub const MAX_CELL_HISTORY_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of row spans and of column spans of the cells whose history is read. Deleted rows
/// split the rows of a range when the range is followed back.
pub const MAX_CELL_HISTORY_SPANS: usize = 100;
/// Maximum number of cells that one request for the history of cells compares. A page ends after half
/// as many edits, but clearing a range compares all cells in it.
pub const MAX_CELL_HISTORY_COMPARISONS: usize = 1_000_000;
/// Maximum encoded size of an operation of a merge that can be split, in bytes. The entry of such an
/// operation contains both the operation of the fork and the transformed operation.
pub const MAX_MERGED_OPERATION_BYTES: usize = MAX_ENTRY_BODY_BYTES / 2 - 1024;
/// Maximum number of entries of a fork that one merge appends. A longer fork is merged in parts.
pub const MAX_MERGED_ENTRIES: usize = 2_000;
/// Maximum size of the operations that one merge reads from the fork, and of those that it reads from
/// the log into which it merges, in bytes of memory.
pub const MAX_MERGE_BYTES: usize = 32 * 1024 * 1024;
/// Maximum number of entries of a fork that one request of a merge appends.
pub const MAX_MERGED_ENTRIES_PER_REQUEST: usize = 100;
/// Maximum number of edits that the reply to a merge lists.
pub const MAX_LISTED_MERGED_EDITS: usize = 1_000;
/// Maximum number of cells in conflict that the reply to a merge lists for each edit.
pub const MAX_LISTED_CONFLICTS: usize = 10;
/// Maximum length of the conditions of a filter, and of a text or regular expression to find, in bytes.
pub const MAX_SEARCH_BYTES: usize = 4_000;
/// Maximum number of conditions of a filter.
pub const MAX_CONDITIONS: usize = 16;
/// Maximum size of a compiled regular expression, in bytes. Matching takes time proportional to this
/// size for each byte of text.
pub const MAX_REGEX_BYTES: usize = 16 * 1024;
/// Number of cells after which a request to find or filter reads no further cells. The cells are counted
/// in the tile index, before they are read.
pub const MAX_SEARCH_CELLS: u64 = 500_000;
/// Number of tiles after which a request to find or filter reads no further tile.
pub const MAX_SEARCH_TILES: u64 = 512;
/// Number of long texts after which a request to find or filter reads no further one. Each is an object.
pub const MAX_SEARCH_LONG_TEXTS: u64 = 256;
/// Number of windows after which a request to find or filter reads no further one. Blank windows count
/// too.
pub const MAX_SEARCH_WINDOWS: u64 = 1_000;
/// Number of bytes of text after which a request to find or filter matches no further regular
/// expressions.
pub const MAX_REGEX_TEXT_BYTES: u64 = 2 * 1024 * 1024;
/// Maximum length of a bearer token, in bytes.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024;
/// Maximum lifetime of a token, in seconds (one year). The lifetime is limited because individual
/// tokens cannot be revoked.
pub const MAX_TOKEN_S: u64 = 366 * 24 * 60 * 60;
/// Maximum number of spreadsheets listed in a token.
pub const MAX_TOKEN_SPREADSHEETS: usize = 16;
/// Number of tokens whose verified claims a function remembers.
pub const MAX_VERIFIED_TOKENS: usize = 1_000;
/// Maximum size of an OIDC issuer's key set or discovery document, in bytes.
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Maximum number of keys that are read from an OIDC issuer's key set.
pub const MAX_KEY_SET_KEYS: usize = 32;
/// Interval at which the cached keys of an OIDC issuer are refreshed, in seconds.
pub const KEY_SET_FRESH_S: u64 = 60 * 60;
/// Maximum age of an OIDC issuer's cached keys, in seconds. Older keys are not used even if the
/// issuer is unavailable.
pub const KEY_SET_STALE_S: u64 = 24 * 60 * 60;
/// Minimum interval between refreshes of an OIDC issuer's keys due to tokens with an unknown key
/// id, in seconds.
pub const KEY_SET_REFRESH_S: u64 = 60;
/// Delay before a request to an unavailable OIDC issuer is retried, in seconds.
pub const KEY_SET_RETRY_S: u64 = 5;
/// Timeout of a request to an OIDC issuer, in milliseconds.
pub const KEY_SET_TIMEOUT_MS: u64 = 4_000;
/// Maximum number of feed items in one webhook delivery.
pub const WEBHOOK_ITEMS: u32 = 100;
/// Timeout of a webhook delivery, in milliseconds.
pub const WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Minimum remaining time of a webhook function invocation at which another delivery is started, in
/// milliseconds.
pub const WEBHOOK_RESERVE_MS: u64 = 20_000;
/// Maximum size of the webhook secrets object, in bytes.
pub const MAX_WEBHOOK_SECRETS_BYTES: u64 = 4 * 1024;
/// Maximum number of forks in the chain from a spreadsheet to its original. Every fork in the chain
/// adds a log that must be read to get the oldest entries.
pub const MAX_FORK_DEPTH: u32 = 16;
/// Maximum number of logs whose fork sources are cached by a process.
pub const MAX_CACHED_LINEAGES: usize = 1_000;
/// Maximum number of forks per page when the forks of a spreadsheet are listed.
pub const MAX_LISTED_FORKS: u32 = 100;
/// Maximum number of attempts to create a fork while other forks of the same spreadsheet are
/// created.
pub const MAX_FORK_ATTEMPTS: u32 = 8;
/// Maximum number in the `cellar-cost` header. The structured field format limits decimals to 12
/// integer digits.
pub const MAX_COST_COUNT: u64 = 999_999_999_999;
