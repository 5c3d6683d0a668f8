//! Bounds of the configuration. Bounds of AWS name the service; all others are chosen by Cellar.

use std::ops::RangeInclusive;

/// Maximum characters of a stack name (CloudFormation).
pub const STACK_NAME_CHARS_MAX: usize = 128;
/// Maximum number of stages.
pub const STAGES_MAX: usize = 16;
/// Maximum characters of a stage name, which becomes part of a stack name.
pub const STAGE_NAME_CHARS_MAX: usize = 32;
/// Maximum characters of a region code.
pub const REGION_CHARS_MAX: usize = 32;
/// Maximum characters of `tokens.issuer` and of `tokens.audience`.
pub const TOKEN_CLAIM_CHARS_MAX: usize = 255;
/// Maximum number of public keys; a rotation needs two.
pub const TOKEN_KEYS_MAX: usize = 8;
/// Maximum characters of a key id.
pub const TOKEN_KEY_ID_CHARS_MAX: usize = 64;
/// Characters of a public key: 32 bytes in unpadded base64url.
pub const PUBLIC_KEY_CHARS: usize = 43;
/// Maximum bytes of all token settings together. They share Lambda's 4 KB of environment variables
/// with the names of tables.
pub const TOKENS_BYTES_MAX: usize = 2_000;
/// Maximum number of `OpenID Connect` issuers.
pub const OIDC_ISSUERS_MAX: usize = 4;
/// Maximum characters of an issuer URL or a JWKS URL.
pub const OIDC_URL_CHARS_MAX: usize = 200;
/// Maximum characters of the name of a claim.
pub const OIDC_CLAIM_CHARS_MAX: usize = 64;
/// Maximum characters of the audience at an `OpenID Connect` issuer.
pub const OIDC_AUDIENCE_CHARS_MAX: usize = 200;
/// Maximum characters of the webhook URL.
pub const WEBHOOK_URL_CHARS_MAX: usize = 1_000;
/// Maximum number of web origins that may call the API.
pub const CORS_ORIGINS_MAX: usize = 32;
/// Maximum characters of a web origin (Lambda).
pub const CORS_ORIGIN_CHARS_MAX: usize = 253;
/// Memory of a function in MB (Lambda).
pub const API_MEMORY_MB: RangeInclusive<u32> = 128..=10_240;
/// Timeout of a request in seconds. The minimum allows a cold start with a retry; clients usually
/// give up before the maximum.
pub const API_TIMEOUT_S: RangeInclusive<u32> = 3..=60;
/// Days of log retention that CloudWatch Logs accepts.
pub const LOG_RETENTION_DAYS: [u32; 22] = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
];
/// Age in days at which log segments are offloaded. Writers may refer to a segment for a day after
/// it was closed, hence the minimum; the maximum, a century, means "never".
pub const OFFLOAD_AFTER_DAYS: RangeInclusive<u32> = 1..=36_525;
/// Number of newest log segments to keep in DynamoDB. A load searches the two newest for a
/// snapshot, hence the minimum.
pub const KEEP_SEGMENTS: RangeInclusive<u32> = cellar_base::limits::MIN_KEPT_SEGMENTS..=1_000_000;
/// Maximum number of restores of a stack's tables.
pub const INCARNATION_MAX: u32 = 9_999;
/// Entries between two snapshots. A load reads all of them.
pub const SNAPSHOT_ENTRIES: RangeInclusive<u32> = 10..=10_000;
/// Bytes of entries between two snapshots.
pub const SNAPSHOT_BYTES: RangeInclusive<u64> = 16 * 1024..=4 * 1024 * 1024;
/// Maximum entries of a log segment, whose offloaded copy is one object.
pub const SEGMENT_ENTRIES: RangeInclusive<u32> = 100..=50_000;
/// Maximum bytes of entries in a log segment, whose offloaded copy is one object.
pub const SEGMENT_BYTES: RangeInclusive<u64> = 64 * 1024..=16 * 1024 * 1024;
/// Memory of the snapshot function in MB. The maximum is Lambda's; one large entry needs almost the
/// minimum.
pub const SNAPSHOT_MEMORY_MB: RangeInclusive<u32> = 256..=10_240;
/// Timeout of the snapshot function in seconds. The minimum is twice the time reserved for saving
/// progress; the maximum is Lambda's.
pub const SNAPSHOT_TIMEOUT_S: RangeInclusive<u32> = 60..=900;
/// Maximum number of tags of a resource (AWS).
pub const TAGS_MAX: usize = 50;
/// Maximum characters of the key of a tag (AWS).
pub const TAG_KEY_CHARS_MAX: usize = 128;
/// Maximum characters of the value of a tag (AWS).
pub const TAG_VALUE_CHARS_MAX: usize = 256;
/// Maximum characters of an email address (RFC 5321).
pub const EMAIL_CHARS_MAX: usize = 254;
/// Maximum characters of the name of a topic (SNS).
pub const TOPIC_NAME_CHARS_MAX: usize = 256;
/// Thresholds of the usage alarms per 5 minutes. The maximum is more than AWS allows one account.
pub const PER_5_MINUTES: RangeInclusive<u32> = 1..=1_000_000_000;
/// Maximum bytes of `cellar.yaml`.
pub const CONFIG_BYTES_MAX: usize = 256 * 1024;
