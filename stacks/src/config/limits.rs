//! Bounds of the configuration. Those of AWS are named as such; the others are ours.

use std::ops::RangeInclusive;

/// Letters in the name of a stack (CloudFormation).
pub const STACK_NAME_CHARS_MAX: usize = 128;
/// Stages of one configuration.
pub const STAGES_MAX: usize = 16;
/// Letters in the name of a stage, which becomes part of a stack's.
pub const STAGE_NAME_CHARS_MAX: usize = 32;
/// Letters in the name of a region.
pub const REGION_CHARS_MAX: usize = 32;
/// Letters in an issuer or an audience.
pub const TOKEN_CLAIM_CHARS_MAX: usize = 255;
/// Public keys at once: a rotation needs two.
pub const TOKEN_KEYS_MAX: usize = 8;
/// Letters in the id of a key.
pub const TOKEN_KEY_ID_CHARS_MAX: usize = 64;
/// Letters of 32 bytes in base64url without padding.
pub const PUBLIC_KEY_CHARS: usize = 43;
/// Bytes of all that is said of tokens: it shares the 4 KB that Lambda allows for environment variables
/// with the names of tables.
pub const TOKENS_BYTES_MAX: usize = 2_000;
/// `OpenID Connect` issuers.
pub const OIDC_ISSUERS_MAX: usize = 4;
/// Letters in the URL of an issuer or of its keys.
pub const OIDC_URL_CHARS_MAX: usize = 200;
/// Letters in the name of a claim.
pub const OIDC_CLAIM_CHARS_MAX: usize = 64;
/// Letters in what an issuer calls this stack.
pub const OIDC_AUDIENCE_CHARS_MAX: usize = 200;
/// Letters in the URL of the webhook.
pub const WEBHOOK_URL_CHARS_MAX: usize = 1_000;
/// Origins that may call the API.
pub const CORS_ORIGINS_MAX: usize = 32;
/// Letters in one origin (Lambda).
pub const CORS_ORIGIN_CHARS_MAX: usize = 253;
/// Memory of a function in MB (Lambda).
pub const API_MEMORY_MB: RangeInclusive<u32> = 128..=10_240;
/// Seconds of a request: less than 3 is shorter than a cold start with a retry, more than 60
/// keeps a client waiting for an answer that it has given up on.
pub const API_TIMEOUT_S: RangeInclusive<u32> = 3..=60;
/// The only numbers of days that CloudWatch Logs accepts.
pub const LOG_RETENTION_DAYS: [u32; 22] = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
];
/// Days after which log segments are offloaded: fewer than 1 is shorter than the day for which a
/// writer may still know a segment, more than a century is meant to be "never".
pub const OFFLOAD_AFTER_DAYS: RangeInclusive<u32> = 1..=36_525;
/// Newest log segments that stay: whoever loads looks for a snapshot in the two newest.
pub const KEEP_SEGMENTS: RangeInclusive<u32> = cellar_base::limits::MIN_KEPT_SEGMENTS..=1_000_000;
/// Restores of a stack's tables.
pub const INCARNATION_MAX: u32 = 9_999;
/// Entries between two snapshots: a load reads them all.
pub const SNAPSHOT_ENTRIES: RangeInclusive<u32> = 10..=10_000;
/// Bytes of bodies between two snapshots.
pub const SNAPSHOT_BYTES: RangeInclusive<u64> = 16 * 1024..=4 * 1024 * 1024;
/// Entries of a log segment: its offloaded copy is one object.
pub const SEGMENT_ENTRIES: RangeInclusive<u32> = 100..=50_000;
/// Bytes of bodies of a log segment: its offloaded copy is one object.
pub const SEGMENT_BYTES: RangeInclusive<u64> = 64 * 1024..=16 * 1024 * 1024;
/// Memory of the function that makes snapshots in MB (Lambda; less than 256 would be no more than
/// one large entry needs).
pub const SNAPSHOT_MEMORY_MB: RangeInclusive<u32> = 256..=10_240;
/// Seconds of a call of that function: at least two reserves for handing over, at most Lambda's 15
/// minutes.
pub const SNAPSHOT_TIMEOUT_S: RangeInclusive<u32> = 60..=900;
/// Tags of a resource (AWS).
pub const TAGS_MAX: usize = 50;
/// Letters in the key of a tag (AWS).
pub const TAG_KEY_CHARS_MAX: usize = 128;
/// Letters in the value of a tag (AWS).
pub const TAG_VALUE_CHARS_MAX: usize = 256;
/// Letters in an e-mail address (RFC 5321).
pub const EMAIL_CHARS_MAX: usize = 254;
/// Letters in the name of a topic (SNS).
pub const TOPIC_NAME_CHARS_MAX: usize = 256;
/// What an alarm may be set to within its 5 minutes: from "any at all" to more than AWS lets one
/// account do.
pub const PER_5_MINUTES: RangeInclusive<u32> = 1..=1_000_000_000;
/// Bytes of `cellar.yaml`: far above any real one, far below what would hurt.
pub const CONFIG_BYTES_MAX: usize = 256 * 1024;
