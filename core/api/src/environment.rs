//! Names of the environment variables that the stack sets on a function and the runtime reads.
//!
//! One home for both sides: `stacks` writes them into the template, `runtime` reads them, and
//! `local` passes them on from the template unchanged.

/// Which handler the one `bootstrap` binary runs: [`FUNCTION_API`], [`FUNCTION_RELAY`],
/// [`FUNCTION_INDEXER`], [`FUNCTION_WEBHOOK`] or [`FUNCTION_SNAPSHOT`].
pub const FUNCTION: &str = "CELLAR_FUNCTION";
/// Value of [`FUNCTION`] for the HTTP API.
pub const FUNCTION_API: &str = "api";
/// Value of [`FUNCTION`] for the relay from the Entry table's stream to jobs.
pub const FUNCTION_RELAY: &str = "relay";
/// Value of [`FUNCTION`] for the indexer of the EventStream table's stream.
pub const FUNCTION_INDEXER: &str = "indexer";
/// Value of [`FUNCTION`] for the delivery of the feed to a URL.
pub const FUNCTION_WEBHOOK: &str = "webhook";
/// Value of [`FUNCTION`] for the worker on snapshots.
pub const FUNCTION_SNAPSHOT: &str = "snapshot";
/// Name of the Entry table.
pub const ENTRY_TABLE: &str = "CELLAR_ENTRY_TABLE";
/// Name of the Segment table.
pub const SEGMENT_TABLE: &str = "CELLAR_SEGMENT_TABLE";
/// Name of the PendingSnapshots table.
pub const PENDING_SNAPSHOTS_TABLE: &str = "CELLAR_PENDING_SNAPSHOTS_TABLE";
/// Name of the EventStream table.
pub const EVENT_STREAM_TABLE: &str = "CELLAR_EVENT_STREAM_TABLE";
/// Name of the Feed table.
pub const FEED_TABLE: &str = "CELLAR_FEED_TABLE";
/// When logs get Snapshot entries and new segments, as JSON
/// ([`LogPolicy`](cellar_log::upkeep::LogPolicy)); absent means never.
pub const UPKEEP: &str = "CELLAR_LOG_POLICY";
/// Name of the bucket for large entries and snapshots.
pub const BUCKET: &str = "CELLAR_BUCKET";
/// Incarnation of the tables: what the incarnation of every log is at least; absent means 0. See
/// [`Entry::at_least`](cellar_log::entry::Entry::at_least).
pub const INCARNATION: &str = "CELLAR_INCARNATION";
/// URL of the queue of snapshot jobs.
pub const SNAPSHOT_QUEUE: &str = "CELLAR_SNAPSHOT_QUEUE";
/// Name of the stack, as `health` reports it.
pub const STACK: &str = "CELLAR_STACK";
/// Milliseconds after which a request is answered with "try again", before Lambda would end it.
pub const REQUEST_TIMEOUT_MS: &str = "CELLAR_REQUEST_TIMEOUT_MS";
/// The `iss` that tokens of the stack's own keys carry.
pub const TOKEN_ISSUER: &str = "CELLAR_TOKEN_ISSUER";
/// The `aud` that tokens must carry.
pub const TOKEN_AUDIENCE: &str = "CELLAR_TOKEN_AUDIENCE";
/// The public keys, as JSON: `[{"id":"…","public_key":"base64url of 32 bytes"}]`.
pub const TOKEN_KEYS: &str = "CELLAR_TOKEN_KEYS";
/// Issuers of tokens besides the stack's own keys, as JSON: a list of
/// [`OidcIssuer`](cellar_catalog::oidc::OidcIssuer); absent means none.
pub const TOKEN_OIDC: &str = "CELLAR_TOKEN_OIDC";
/// Tokens that were made before this moment, Unix seconds, are refused; absent means that none are for
/// their age.
pub const TOKEN_NOT_BEFORE_S: &str = "CELLAR_TOKEN_NOT_BEFORE_S";
/// Where the feed is delivered to: a URL.
pub const WEBHOOK_URL: &str = "CELLAR_WEBHOOK_URL";
/// `true` if what is delivered tells what events say, too; absent means that it does not.
pub const WEBHOOK_EVENTS: &str = "CELLAR_WEBHOOK_PAYLOADS";
