//! Configuration limits. If AWS imposes a limit, the comment names the service. All other limits
//! are Cellar's own.

use std::ops::RangeInclusive;

/// Maximum stack name length in characters (CloudFormation).
pub const STACK_NAME_CHARS_MAX: usize = 128;
/// Maximum number of stages.
pub const STAGES_MAX: usize = 16;
/// Maximum stage name length in characters. The name becomes part of the stack name.
pub const STAGE_NAME_CHARS_MAX: usize = 32;
/// Maximum region code length in characters.
pub const REGION_CHARS_MAX: usize = 32;
/// Maximum length of `tokens.issuer` and `tokens.audience` in characters.
pub const TOKEN_CLAIM_CHARS_MAX: usize = 255;
/// Maximum number of public keys. Key rotation requires at least two.
pub const TOKEN_KEYS_MAX: usize = 8;
/// Maximum key id length in characters.
pub const TOKEN_KEY_ID_CHARS_MAX: usize = 64;
/// Public key length in characters: 32 bytes in unpadded base64url.
pub const PUBLIC_KEY_CHARS: usize = 43;
/// Maximum total size of the token settings in bytes. Lambda limits environment variables to 4 KB,
/// which token settings and table names share.
pub const TOKENS_BYTES_MAX: usize = 2_000;
/// Maximum number of OpenID Connect issuers.
pub const OIDC_ISSUERS_MAX: usize = 4;
/// Maximum length of an issuer URL or JWKS URL in characters.
pub const OIDC_URL_CHARS_MAX: usize = 200;
/// Maximum claim name length in characters.
pub const OIDC_CLAIM_CHARS_MAX: usize = 64;
/// Maximum audience length of an OpenID Connect issuer, in characters.
pub const OIDC_AUDIENCE_CHARS_MAX: usize = 200;
/// Maximum webhook URL length in characters.
pub const WEBHOOK_URL_CHARS_MAX: usize = 1_000;
/// Maximum number of web origins that may call the API.
pub const CORS_ORIGINS_MAX: usize = 32;
/// Maximum web origin length in characters (Lambda).
pub const CORS_ORIGIN_CHARS_MAX: usize = 253;
/// API function memory range in MB (Lambda).
pub const API_MEMORY_MB: RangeInclusive<u32> = 128..=10_240;
/// Request timeout range in seconds. The minimum allows for a cold start and a retry. Most clients
/// give up before the maximum.
pub const API_TIMEOUT_S: RangeInclusive<u32> = 3..=60;
/// Log retention periods supported by CloudWatch Logs, in days.
pub const LOG_RETENTION_DAYS: [u32; 22] = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
];
/// Age range for offloading log segments, in days. The minimum is one day, because writers may use
/// a segment for a day after it was closed. The maximum is a century, which in effect disables
/// offloading.
pub const OFFLOAD_AFTER_DAYS: RangeInclusive<u32> = 1..=36_525;
/// Range for the number of newest log segments that stay in DynamoDB. The minimum is two, because
/// loading a spreadsheet searches the two newest segments for a snapshot.
pub const KEEP_SEGMENTS: RangeInclusive<u32> = cellar_base::limits::MIN_KEPT_SEGMENTS..=1_000_000;
/// Maximum number of times that a stack's tables can be restored.
pub const INCARNATION_MAX: u32 = 9_999;
/// Range for the number of entries between two snapshots. Loading a spreadsheet reads all entries
/// after the latest snapshot.
pub const SNAPSHOT_ENTRIES: RangeInclusive<u32> = 10..=10_000;
/// Range for the total size of the entries between two snapshots, in bytes.
pub const SNAPSHOT_BYTES: RangeInclusive<u64> = 16 * 1024..=4 * 1024 * 1024;
/// Range for the maximum number of entries per log segment. An offloaded segment is a single
/// object.
pub const SEGMENT_ENTRIES: RangeInclusive<u32> = 100..=50_000;
/// Range for the maximum total size of a log segment's entries, in bytes. An offloaded segment is a
/// single object.
pub const SEGMENT_BYTES: RangeInclusive<u64> = 64 * 1024..=16 * 1024 * 1024;
/// Snapshot function memory range in MB. The maximum is Lambda's. The minimum is slightly more than
/// the processing of a single large entry requires.
pub const SNAPSHOT_MEMORY_MB: RangeInclusive<u32> = 256..=10_240;
/// Snapshot function timeout range in seconds. The minimum is twice the time that is reserved for
/// saving progress. The maximum is Lambda's.
pub const SNAPSHOT_TIMEOUT_S: RangeInclusive<u32> = 60..=900;
/// Maximum number of tags per resource (AWS).
pub const TAGS_MAX: usize = 50;
/// Maximum tag key length in characters (AWS).
pub const TAG_KEY_CHARS_MAX: usize = 128;
/// Maximum tag value length in characters (AWS).
pub const TAG_VALUE_CHARS_MAX: usize = 256;
/// Maximum email address length in characters (RFC 5321).
pub const EMAIL_CHARS_MAX: usize = 254;
/// Maximum topic name length in characters (SNS).
pub const TOPIC_NAME_CHARS_MAX: usize = 256;
/// Range for usage alarm thresholds, per 5 minutes. The maximum exceeds all AWS account quotas.
pub const PER_5_MINUTES: RangeInclusive<u32> = 1..=1_000_000_000;
/// Maximum size of `cellar.yaml` in bytes.
pub const CONFIG_BYTES_MAX: usize = 256 * 1024;
