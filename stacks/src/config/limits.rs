//! Limits of configuration values. If an AWS service imposes a limit, the comment says so. All
//! other limits are Cellar's own.

use std::ops::RangeInclusive;

/// The maximum length of a stack name in characters, a limit of CloudFormation.
pub const STACK_NAME_CHARS_MAX: usize = 128;
/// Maximum number of stages.
pub const STAGES_MAX: usize = 16;
/// The maximum length of a stage name in characters. The stage name becomes part of the stack name.
pub const STAGE_NAME_CHARS_MAX: usize = 32;
/// The maximum length of a region code in characters.
pub const REGION_CHARS_MAX: usize = 32;
/// The maximum length of `tokens.issuer` and `tokens.audience` in characters.
pub const TOKEN_CLAIM_CHARS_MAX: usize = 255;
/// The maximum number of public keys that verify tokens. Key rotation requires at least two.
pub const TOKEN_KEYS_MAX: usize = 8;
/// Maximum key id length in characters.
pub const TOKEN_KEY_ID_CHARS_MAX: usize = 64;
/// The length of a public key in characters: 32 bytes encoded as unpadded base64url.
pub const PUBLIC_KEY_CHARS: usize = 43;
/// The maximum total size of the token settings in bytes. Token settings share the environment
/// variables with table names, and Lambda limits environment variables to 4 KB.
pub const TOKENS_BYTES_MAX: usize = 2_000;
/// The maximum number of OpenID Connect issuers.
pub const OIDC_ISSUERS_MAX: usize = 4;
/// The maximum length of the URL of an issuer, or of its public keys, in characters.
pub const OIDC_URL_CHARS_MAX: usize = 200;
/// Maximum claim name length in characters.
pub const OIDC_CLAIM_CHARS_MAX: usize = 64;
/// The maximum length of an OpenID Connect audience in characters.
pub const OIDC_AUDIENCE_CHARS_MAX: usize = 200;
/// The maximum length of the name of an OpenID Connect issuer on the page, in characters.
pub const OIDC_NAME_CHARS_MAX: usize = 64;
/// The maximum length of the webhook URL in characters.
pub const WEBHOOK_URL_CHARS_MAX: usize = 1_000;
/// The maximum number of web origins that may call the API.
pub const CORS_ORIGINS_MAX: usize = 32;
/// The maximum length of a web origin in characters, a limit of Lambda.
pub const CORS_ORIGIN_CHARS_MAX: usize = 253;
/// The allowed memory of the API function in MB. Lambda imposes the minimum and the maximum.
pub const API_MEMORY_MB: RangeInclusive<u32> = 128..=10_240;
/// The allowed request timeouts in seconds. The shortest timeout allows for a cold start and a
/// retry. Most clients give up before the longest timeout.
pub const API_TIMEOUT_S: RangeInclusive<u32> = 3..=60;
/// The log retention periods, in days, that CloudWatch Logs supports.
pub const LOG_RETENTION_DAYS: [u32; 22] = [
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
];
/// The allowed ages, in days, at which log segments are offloaded. The minimum is one day, because
/// writers may use a segment for a day after it was closed. The maximum is a century, which in
/// effect disables offloading.
pub const OFFLOAD_AFTER_DAYS: RangeInclusive<u32> = 1..=36_525;
/// The allowed number of newest log segments that stay in DynamoDB. The minimum is two, because
/// loading a spreadsheet searches the two newest segments for a snapshot.
pub const KEEP_SEGMENTS: RangeInclusive<u32> = cellar_base::limits::MIN_KEPT_SEGMENTS..=1_000_000;
/// The maximum number of times that a stack's tables can be restored.
pub const INCARNATION_MAX: u32 = 9_999;
/// The allowed number of entries between two snapshots. Loading a spreadsheet reads all entries
/// after the latest snapshot, so a larger number makes loading slower.
pub const SNAPSHOT_ENTRIES: RangeInclusive<u32> = 10..=cellar_base::limits::MAX_SNAPSHOT_ENTRIES;
/// The allowed total size, in bytes, of the entries between two snapshots.
pub const SNAPSHOT_BYTES: RangeInclusive<u64> = 16 * 1024..=4 * 1024 * 1024;
/// The allowed values for the maximum number of entries per log segment. A segment must not be too
/// large, because an offloaded segment is a single object.
pub const SEGMENT_ENTRIES: RangeInclusive<u32> = 100..=50_000;
/// The allowed values for the maximum total size of the entries in a log segment, in bytes. A
/// segment must not be too large, because an offloaded segment is a single object.
pub const SEGMENT_BYTES: RangeInclusive<u64> = 64 * 1024..=16 * 1024 * 1024;
/// The allowed memory of the snapshot function in MB. The minimum is slightly more than a single
/// large entry requires. Lambda imposes the maximum.
pub const SNAPSHOT_MEMORY_MB: RangeInclusive<u32> = 256..=10_240;
/// The allowed timeouts of the snapshot function in seconds. The minimum is twice the time that is
/// reserved for saving progress. Lambda imposes the maximum.
pub const SNAPSHOT_TIMEOUT_S: RangeInclusive<u32> = 60..=900;
/// The maximum number of tags per resource, a limit of AWS.
pub const TAGS_MAX: usize = 50;
/// The maximum length of a tag key in characters, a limit of AWS.
pub const TAG_KEY_CHARS_MAX: usize = 128;
/// The maximum length of a tag value in characters, a limit of AWS.
pub const TAG_VALUE_CHARS_MAX: usize = 256;
/// The maximum length of an email address in characters, as specified by RFC 5321.
pub const EMAIL_CHARS_MAX: usize = 254;
/// The maximum length of a topic name in characters, a limit of SNS.
pub const TOPIC_NAME_CHARS_MAX: usize = 256;
/// The allowed thresholds of a usage alarm, per 5 minutes. The maximum exceeds what any AWS account
/// can use.
pub const PER_5_MINUTES: RangeInclusive<u32> = 1..=1_000_000_000;
/// The allowed values for the maximum write throughput of the Entry table, in write units per
/// second. The minimum is the largest item of DynamoDB, so that an entry of any size fits into one
/// second. The maximum is the default quota of a table, above which DynamoDB rejects the setting.
pub const WRITE_UNITS_PER_SECOND: RangeInclusive<u32> = 400..=40_000;
/// Maximum size of `cellar.yaml` in bytes.
pub const CONFIG_BYTES_MAX: usize = 256 * 1024;
