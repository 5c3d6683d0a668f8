//! Names of the environment variables of the functions.
//!
//! `stacks` writes the variables to the template, and `runtime` reads them. `local` passes the
//! variables from the template to the runtime unchanged.

/// Function that the `bootstrap` binary runs. One of [`FUNCTION_API`], [`FUNCTION_RELAY`],
/// [`FUNCTION_INDEXER`], [`FUNCTION_WEBHOOK`] and [`FUNCTION_SNAPSHOT`].
pub const FUNCTION: &str = "CELLAR_FUNCTION";
/// Value of [`FUNCTION`] for the HTTP API.
pub const FUNCTION_API: &str = "api";
/// Value of [`FUNCTION`] for the relay, which starts the jobs that are due after new entries.
pub const FUNCTION_RELAY: &str = "relay";
/// Value of [`FUNCTION`] for the indexer, which adds the events of event streams to the feed.
pub const FUNCTION_INDEXER: &str = "indexer";
/// Value of [`FUNCTION`] for the webhook, which delivers the feed to a URL.
pub const FUNCTION_WEBHOOK: &str = "webhook";
/// Value of [`FUNCTION`] for the snapshot worker.
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
/// Policy that determines when Snapshot entries and new log segments are created, as JSON
/// ([`LogPolicy`](cellar_log::upkeep::LogPolicy)). If unset, neither is created.
pub const UPKEEP: &str = "CELLAR_LOG_POLICY";
/// Name of the bucket for external bodies, snapshots and offloaded segments.
pub const BUCKET: &str = "CELLAR_BUCKET";
/// Incarnation of the tables, which is also the minimum incarnation of every log. If unset, 0. See
/// [`Entry::raise_incarnation`](cellar_log::entry::Entry::raise_incarnation).
pub const INCARNATION: &str = "CELLAR_INCARNATION";
/// URL of the queue for snapshot jobs.
pub const SNAPSHOT_QUEUE: &str = "CELLAR_SNAPSHOT_QUEUE";
/// Name of the stack, returned by `GET /v1/health`.
pub const STACK: &str = "CELLAR_STACK";
/// Request timeout in milliseconds. When it elapses, the API responds with status 503. Must be less
/// than the timeout of the Lambda function.
pub const REQUEST_TIMEOUT_MS: &str = "CELLAR_REQUEST_TIMEOUT_MS";
/// Required issuer (claim `iss`) of tokens that are signed with one of the stack's own keys.
pub const TOKEN_ISSUER: &str = "CELLAR_TOKEN_ISSUER";
/// Required audience (claim `aud`) of tokens.
pub const TOKEN_AUDIENCE: &str = "CELLAR_TOKEN_AUDIENCE";
/// Public keys for token verification, as JSON: `[{"id":"…","public_key":"base64url of 32
/// bytes"}]`.
pub const TOKEN_KEYS: &str = "CELLAR_TOKEN_KEYS";
/// OIDC issuers accepted in addition to the stack's own keys, as a JSON list of
/// [`OidcIssuer`](cellar_catalog::oidc::OidcIssuer). If unset, no OIDC issuer is accepted.
pub const TOKEN_OIDC: &str = "CELLAR_TOKEN_OIDC";
/// Earliest issue time of accepted tokens, in seconds since the Unix epoch. If unset, the issue
/// time is not checked.
pub const TOKEN_NOT_BEFORE_S: &str = "CELLAR_TOKEN_NOT_BEFORE_S";
/// URL to which the webhook delivers the feed.
pub const WEBHOOK_URL: &str = "CELLAR_WEBHOOK_URL";
/// Whether deliveries include event payloads: `true` or `false`. If unset, `false`.
pub const WEBHOOK_EVENTS: &str = "CELLAR_WEBHOOK_PAYLOADS";
