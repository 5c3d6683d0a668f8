//! Errors in `cellar.yaml`. Each message shows the rejected value and suggests a correction.

use std::fmt;
use std::ops::RangeInclusive;

use cellar_base::duration::{DurationUnit, format_duration};
use thiserror::Error;

use super::limits::{
    API_MEMORY_MB, API_TIMEOUT_S, CONFIG_BYTES_MAX, CORS_ORIGINS_MAX, EMAIL_CHARS_MAX,
    INCARNATION_MAX, KEEP_SEGMENTS, LOG_RETENTION_DAYS, OFFLOAD_AFTER_DAYS,
    OIDC_AUDIENCE_CHARS_MAX, OIDC_CLAIM_CHARS_MAX, OIDC_ISSUERS_MAX, OIDC_NAME_CHARS_MAX,
    OIDC_URL_CHARS_MAX, PER_5_MINUTES, PUBLIC_KEY_CHARS, REGION_CHARS_MAX, SNAPSHOT_TIMEOUT_S,
    STACK_NAME_CHARS_MAX, STAGE_NAME_CHARS_MAX, STAGES_MAX, TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX,
    TAGS_MAX, TOKEN_CLAIM_CHARS_MAX, TOKEN_KEY_ID_CHARS_MAX, TOKEN_KEYS_MAX, TOKENS_BYTES_MAX,
    TOPIC_NAME_CHARS_MAX, WEBHOOK_URL_CHARS_MAX, WRITE_UNITS_PER_SECOND,
};
use super::origin::OriginFault;
use crate::suggest;

/// A line and column in a file. Both are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// Error about a field that does not exist in a section of the configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{file_name}: unknown field `{field}`{}{}{}; known fields: {}",
    describe_section(section),
    describe_position(*position),
    suggest::suggestion_hint(suggestion.as_deref()),
    known.join(", ")
)]
pub struct UnknownField {
    pub file_name: String,
    /// The path of the section that contains the field, such as `tokens.keys[0]`. It is empty for a
    /// field at the top level.
    pub section: String,
    pub field: String,
    pub position: Option<SourcePosition>,
    /// The known field that is most similar to the unknown field, or `None` if none is similar
    /// enough.
    pub suggestion: Option<String>,
    /// All known fields of the section.
    pub known: Vec<String>,
}

/// The reason why a configuration file was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error(
        "{file_name}: the file is {bytes} bytes long, but at most {CONFIG_BYTES_MAX} are allowed"
    )]
    TooLarge { file_name: String, bytes: usize },
    /// The file is not valid YAML, or a value has the wrong type.
    #[error("{file_name}: {message}")]
    Malformed {
        file_name: String,
        position: Option<SourcePosition>,
        /// The message of the parser. It includes the path and position of the field.
        message: String,
    },
    #[error(transparent)]
    UnknownField(Box<UnknownField>),
    #[error("{file_name}: {}", join_lines(problems))]
    Invalid {
        file_name: String,
        /// All problems, in field order.
        problems: Vec<ConfigProblem>,
    },
}

fn describe_section(section: &str) -> String {
    if section.is_empty() { String::new() } else { format!(" in `{section}`") }
}

fn describe_position(position: Option<SourcePosition>) -> String {
    position.map_or_else(String::new, |position| format!(" at {position}"))
}

fn join_lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// An out-of-bounds value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigProblem {
    #[error(
        "`stack` is `{value}`, which is not a valid stack name: use 1 to {STACK_NAME_CHARS_MAX} letters, digits and hyphens, starting with a letter"
    )]
    StackName { value: String },
    #[error(
        "`stages` contains the invalid stage name `{value}`: use 1 to {STAGE_NAME_CHARS_MAX} letters, digits and hyphens"
    )]
    StageName { value: String },
    #[error("`stages` lists {count} stages: at most {STAGES_MAX} are allowed")]
    TooManyStages { count: usize },
    #[error(
        "the stages {one} and {other} both use the stack name `{stack}` in the same region: set `stack` or `region` of one of them"
    )]
    StagesShareStack { one: String, other: String, stack: String },
    #[error(
        "`region` is `{value}`: use a region code such as eu-central-1 (at most {REGION_CHARS_MAX} characters), or omit the field"
    )]
    Region { value: String },
    #[error("`tokens.{field}` must be 1 to {TOKEN_CLAIM_CHARS_MAX} printable characters long")]
    TokenClaim { field: &'static str },
    #[error(
        "`tokens.keys` lists {count} keys: at most {TOKEN_KEYS_MAX} are allowed; remove keys that are no longer in use"
    )]
    TooManyTokenKeys { count: usize },
    #[error(
        "`tokens.keys[{index}].id` is `{value}`: use 1 to {TOKEN_KEY_ID_CHARS_MAX} of the characters A-Z a-z 0-9 . _ -"
    )]
    TokenKeyId { index: usize, value: String },
    #[error(
        "`tokens.keys[{index}].id` is `{value}`, the id of an earlier key: give each key a unique id"
    )]
    DuplicateTokenKeyId { index: usize, value: String },
    #[error(
        "`tokens.keys[{index}].public_key` is not a public key: expected {PUBLIC_KEY_CHARS} characters, the 32 bytes of an Ed25519 key in unpadded base64url"
    )]
    PublicKey { index: usize },
    #[error("`tokens.oidc` lists {count} issuers: at most {OIDC_ISSUERS_MAX} are allowed")]
    TooManyIssuers { count: usize },
    #[error("`tokens.oidc[{index}]`: {fault}")]
    Issuer { index: usize, fault: IssuerFault },
    #[error(
        "`tokens` is {bytes} bytes long, but at most {TOKENS_BYTES_MAX} are allowed: remove issuers, or keys that are no longer in use"
    )]
    TokensTooLarge {
        /// The total size in bytes of the environment variables that contain token settings.
        bytes: usize,
    },
    /// `tokens.not_before_s` is later than the year 9999. It is probably in milliseconds instead of
    /// seconds.
    #[error("`tokens.not_before_s` is {value}: use Unix seconds, as `date +%s` prints them")]
    NotBefore { value: u64 },
    #[error(
        "`webhook.url` must be an https:// URL with a public host (or http://127.0.0.1 for development), of at most {WEBHOOK_URL_CHARS_MAX} characters"
    )]
    WebhookUrl,
    #[error("`cors_origins` lists {count} origins: at most {CORS_ORIGINS_MAX} are allowed")]
    TooManyOrigins { count: usize },
    #[error("`cors_origins[{index}]` is `{value}`: {fault}")]
    Origin { index: usize, value: String, fault: OriginFault },
    #[error("`api.memory_mb` is {value}: use {} to {}", API_MEMORY_MB.start(), API_MEMORY_MB.end())]
    Memory { value: u32 },
    #[error("`api.timeout` is {}: use {}", seconds(*value), seconds_range(&API_TIMEOUT_S))]
    Timeout { value: u32 },
    #[error("`snapshots.{field}` is {value}: use {from} to {to}")]
    Snapshots { field: &'static str, value: u64, from: u64, to: u64 },
    #[error("`snapshots.timeout` is {}: use {}", seconds(*value), seconds_range(&SNAPSHOT_TIMEOUT_S))]
    SnapshotTimeout { value: u32 },
    #[error(
        "`log_retention` is {value}d: CloudWatch Logs accepts only {} days",
        allowed_retention_days()
    )]
    LogRetention { value: u32 },
    #[error(
        "`offload_after` is {value}d: use {}d to {}d, or omit the field to keep all segments in DynamoDB",
        OFFLOAD_AFTER_DAYS.start(),
        OFFLOAD_AFTER_DAYS.end()
    )]
    OffloadAfter { value: u32 },
    #[error("`keep_segments` is {value}: use {} to {}", KEEP_SEGMENTS.start(), KEEP_SEGMENTS.end())]
    KeepSegments { value: u32 },
    #[error(
        "`incarnation` is {value}: the maximum is {INCARNATION_MAX}; only `synth restore` should change this field"
    )]
    Incarnation { value: u32 },
    #[error("`tags` lists {count} tags: AWS accepts at most {TAGS_MAX} for each resource")]
    TooManyTags { count: usize },
    #[error("`tags` has the key `{key}`: {fault}")]
    Tag { key: String, fault: TagFault },
    #[error(
        "`encryption.kms_key_arn` is `{value}`: use the ARN of a KMS key, such as arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef (an alias is not allowed)"
    )]
    KmsKeyArn { value: String },
    #[error(
        "`alarms.topic_arn` is `{value}`: use the ARN of a standard SNS topic, such as arn:aws:sns:eu-central-1:123456789012:operators (a topic name has at most {TOPIC_NAME_CHARS_MAX} letters, digits, - and _)"
    )]
    TopicArn { value: String },
    #[error(
        "`{field}` is in region {region}, but the stack is in {stack_region}: both must be in the same region"
    )]
    ArnRegion {
        field: &'static str,
        /// The region of the ARN.
        region: String,
        stack_region: String,
    },
    #[error(
        "`alarms.email` is `{value}`: use one email address such as operators@example.com, at most {EMAIL_CHARS_MAX} characters"
    )]
    Email { value: String },
    #[error("`alarms.{field}` is {value}: use {} to {}", PER_5_MINUTES.start(), PER_5_MINUTES.end())]
    AlarmThreshold { field: &'static str, value: u32 },
    #[error(
        "`limits.write_units_per_second` is {value}: use {} to {}, or omit the field for no limit",
        WRITE_UNITS_PER_SECOND.start(),
        WRITE_UNITS_PER_SECOND.end()
    )]
    WriteUnits { value: u32 },
    #[error(
        "`local.port` is 0: use 1 to 65535; a fixed port keeps the URL of the local stack the same"
    )]
    Port,
}

/// The reason why an issuer in `tokens.oidc` was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum IssuerFault {
    /// A field is not a URL, or is an HTTP URL without TLS. Without TLS, an attacker could forge
    /// the responses.
    #[error(
        "`{field}` must be a URL that starts with https:// (or http://127.0.0.1 for development), \
         of at most {OIDC_URL_CHARS_MAX} characters"
    )]
    Url {
        /// `issuer`, `keys_url` or `token_url`.
        field: &'static str,
    },
    #[error(
        "`audience` must be the id of this application at the issuer, with 1 to \
         {OIDC_AUDIENCE_CHARS_MAX} printable characters"
    )]
    Audience,
    #[error(
        "`client_id` must be the id of the page at the issuer, with 1 to {OIDC_AUDIENCE_CHARS_MAX} \
         printable characters"
    )]
    ClientId,
    #[error("`name` must have 1 to {OIDC_NAME_CHARS_MAX} printable characters")]
    Name,
    #[error(
        "`subject_claim` must consist of 1 to {OIDC_CLAIM_CHARS_MAX} of the characters A-Z a-z 0-9 . _ - : /"
    )]
    Claim,
    /// An earlier element of `tokens.oidc`, or `tokens.issuer`, has the same issuer.
    #[error("`issuer` is the same as an earlier issuer or `tokens.issuer`: list each issuer once")]
    Duplicate,
}

/// Reason why a tag was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TagFault {
    #[error(
        "the key must consist of 1 to {TAG_KEY_CHARS_MAX} letters, digits and _ . : / = + - @, with spaces only between them"
    )]
    Key,
    #[error("keys that start with `aws:` are reserved by AWS; use another key")]
    Reserved,
    /// The key is equal to an earlier key if letter case is ignored.
    #[error("an earlier key differs only in case, which IAM rejects; remove one of the two")]
    Case,
    #[error(
        "the value must consist of at most {TAG_VALUE_CHARS_MAX} letters, digits and _ . : / = + - @, with spaces only between them"
    )]
    Value,
}

fn seconds(value: u32) -> String {
    format_duration(u64::from(value), DurationUnit::Seconds)
}

fn seconds_range(range: &RangeInclusive<u32>) -> String {
    format!("{} to {}", seconds(*range.start()), seconds(*range.end()))
}

fn allowed_retention_days() -> String {
    LOG_RETENTION_DAYS.map(|days| days.to_string()).join(", ")
}
