//! Names of the environment variables of the Lambda functions. `stacks` writes the variables to the
//! CloudFormation template, and `runtime` reads them. `local` passes them from the template to
//! `runtime` unchanged.

/// The function that the `bootstrap` binary runs: one of [`FUNCTION_API`], [`FUNCTION_RELAY`],
/// [`FUNCTION_INDEXER`], [`FUNCTION_WEBHOOK`] and [`FUNCTION_SNAPSHOT`].
pub const FUNCTION: &str = "CELLAR_FUNCTION";
/// Value of [`FUNCTION`] for the HTTP API.
pub const FUNCTION_API: &str = "api";
/// Value of [`FUNCTION`] for the relay, which starts snapshot jobs after new entries were written.
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
/// When to create Snapshot entries and new log segments, as a JSON object
/// ([`LogPolicy`](cellar_log::upkeep::LogPolicy)). If unset, neither is created.
pub const UPKEEP: &str = "CELLAR_LOG_POLICY";
/// Name of the bucket for external bodies, snapshots and offloaded segments.
pub const BUCKET: &str = "CELLAR_BUCKET";
/// Number of times that the tables were restored, 0 if unset. Every log has at least this
/// incarnation; see [`Entry::raise_incarnation`](cellar_log::entry::Entry::raise_incarnation).
pub const INCARNATION: &str = "CELLAR_INCARNATION";
/// URL of the queue for snapshot jobs.
pub const SNAPSHOT_QUEUE: &str = "CELLAR_SNAPSHOT_QUEUE";
/// URL of the dead-letter queue for change stream records that the relay or the indexer can never
/// process.
pub const DEAD_LETTER_QUEUE: &str = "CELLAR_DEAD_LETTER_QUEUE";
/// Name of the stack, returned by `GET /v1/health`.
pub const STACK: &str = "CELLAR_STACK";
/// Request timeout in milliseconds, after which the API responds with status 503. It must be less
/// than the timeout of the Lambda function.
pub const REQUEST_TIMEOUT_MS: &str = "CELLAR_REQUEST_TIMEOUT_MS";
/// Issuer (claim `iss`) that tokens signed with one of the stack's own keys must have.
pub const TOKEN_ISSUER: &str = "CELLAR_TOKEN_ISSUER";
/// Audience (claim `aud`) that tokens must have.
pub const TOKEN_AUDIENCE: &str = "CELLAR_TOKEN_AUDIENCE";
/// Public keys with which tokens are verified, as JSON: `[{"id":"…","public_key":"base64url of 32
/// bytes"}]`.
pub const TOKEN_KEYS: &str = "CELLAR_TOKEN_KEYS";
/// OIDC issuers whose tokens are accepted in addition to tokens signed with the stack's own keys,
/// as a JSON list of [`OidcIssuer`](cellar_catalog::oidc::OidcIssuer). The default is an empty
/// list.
pub const TOKEN_OIDC: &str = "CELLAR_TOKEN_OIDC";
/// Earliest time at which an accepted token may have been issued, in seconds since the Unix epoch.
/// If unset, the time is not checked.
pub const TOKEN_NOT_BEFORE_S: &str = "CELLAR_TOKEN_NOT_BEFORE_S";
/// URL to which the webhook delivers the feed.
pub const WEBHOOK_URL: &str = "CELLAR_WEBHOOK_URL";
/// Whether the webhook delivers event payloads: `true` or `false`. The default is `false`.
pub const WEBHOOK_EVENTS: &str = "CELLAR_WEBHOOK_PAYLOADS";
