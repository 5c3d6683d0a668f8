//! Bounds of the configuration. A bound that is set by an AWS service mentions the service; all
//! other bounds are chosen by Cellar.

use std::ops::RangeInclusive;

/// Maximum length of a stack name in characters (CloudFormation).
pub const STACK_NAME_CHARS_MAX: usize = 128;
/// Maximum number of stages.
pub const STAGES_MAX: usize = 16;
/// Maximum length of a stage name in characters. The stage name becomes part of a stack name.
pub const STAGE_NAME_CHARS_MAX: usize = 32;
/// Maximum length of a region code in characters.
pub const REGION_CHARS_MAX: usize = 32;
/// Maximum length of `tokens.issuer` and of `tokens.audience`, in characters.
pub const TOKEN_CLAIM_CHARS_MAX: usize = 255;
/// Maximum number of public keys. A key rotation needs two.
pub const TOKEN_KEYS_MAX: usize = 8;
/// Maximum length of a key id in characters.
pub const TOKEN_KEY_ID_CHARS_MAX: usize = 64;
/// Length of a public key in characters: 32 bytes in unpadded base64url.
pub const PUBLIC_KEY_CHARS: usize = 43;
/// Maximum total size of the token settings in bytes. The settings and the names of tables share
/// the 4 KB that Lambda allows for environment variables.
pub const TOKENS_BYTES_MAX: usize = 2_000;
/// Maximum number of `OpenID Connect` issuers.
pub const OIDC_ISSUERS_MAX: usize = 4;
/// Maximum length of an issuer URL or a JWKS URL, in characters.
pub const OIDC_URL_CHARS_MAX: usize = 200;
/// Maximum length of the name of a claim, in characters.
pub const OIDC_CLAIM_CHARS_MAX: usize = 64;
/// Maximum length of the audience of an `OpenID Connect` issuer, in characters.
pub const OIDC_AUDIENCE_CHARS_MAX: usize = 200;
/// Maximum length of the webhook URL in characters.
pub const WEBHOOK_URL_CHARS_MAX: usize = 1_000;
/// Maximum number of web origins that may call the API.
pub const CORS_ORIGINS_MAX: usize = 32;
/// Maximum length of a web origin in characters (Lambda).
pub const CORS_ORIGIN_CHARS_MAX: usize = 253;
/// Memory of the API function in MB (Lambda).
pub const API_MEMORY_MB: RangeInclusive<u32> = 128..=10_240;
/// Timeout of a request in seconds. The minimum allows for a cold start and a retry. At the
/// maximum, most clients have already given up.
pub const API_TIMEOUT_S: RangeInclusive<u32> = 3..=60;
/// Numbers of days for which CloudWatch Logs can retain log lines.
pub const LOG_RETENTION_DAYS: [u32; 22] = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
];
/// Age in days at which log segments are offloaded. The minimum is one day because writers may
/// refer to a segment for a day after it was closed. The maximum, a century, means "never".
pub const OFFLOAD_AFTER_DAYS: RangeInclusive<u32> = 1..=36_525;
/// Number of newest log segments to keep in DynamoDB. The minimum exists because a load searches
/// the two newest segments for a snapshot.
pub const KEEP_SEGMENTS: RangeInclusive<u32> = cellar_base::limits::MIN_KEPT_SEGMENTS..=1_000_000;
/// Maximum number of times that a stack's tables can be restored.
pub const INCARNATION_MAX: u32 = 9_999;
/// Number of entries between two snapshots. Loading a spreadsheet reads all entries after the last
/// snapshot.
pub const SNAPSHOT_ENTRIES: RangeInclusive<u32> = 10..=10_000;
/// Size of the entries between two snapshots, in bytes.
pub const SNAPSHOT_BYTES: RangeInclusive<u64> = 16 * 1024..=4 * 1024 * 1024;
/// Maximum number of entries in a log segment. An offloaded segment is a single object.
pub const SEGMENT_ENTRIES: RangeInclusive<u32> = 100..=50_000;
/// Maximum size of the entries in a log segment, in bytes. An offloaded segment is a single object.
pub const SEGMENT_BYTES: RangeInclusive<u64> = 64 * 1024..=16 * 1024 * 1024;
/// Memory of the snapshot function in MB. The maximum is set by Lambda. A single large entry needs
/// almost the minimum.
pub const SNAPSHOT_MEMORY_MB: RangeInclusive<u32> = 256..=10_240;
/// Timeout of the snapshot function in seconds. The minimum is twice the time that is reserved for
/// saving progress. The maximum is set by Lambda.
pub const SNAPSHOT_TIMEOUT_S: RangeInclusive<u32> = 60..=900;
/// Maximum number of tags on a resource (AWS).
pub const TAGS_MAX: usize = 50;
/// Maximum length of a tag's key in characters (AWS).
pub const TAG_KEY_CHARS_MAX: usize = 128;
/// Maximum length of a tag's value in characters (AWS).
pub const TAG_VALUE_CHARS_MAX: usize = 256;
/// Maximum length of an email address in characters (RFC 5321).
pub const EMAIL_CHARS_MAX: usize = 254;
/// Maximum length of a topic name in characters (SNS).
pub const TOPIC_NAME_CHARS_MAX: usize = 256;
/// Thresholds of the usage alarms, in units per 5 minutes. The maximum is more than AWS allows for
/// an account.
pub const PER_5_MINUTES: RangeInclusive<u32> = 1..=1_000_000_000;
/// Maximum size of `cellar.yaml` in bytes.
pub const CONFIG_BYTES_MAX: usize = 256 * 1024;
