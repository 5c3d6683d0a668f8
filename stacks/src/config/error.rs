//! What can be wrong with `cellar.yaml`, each with what to do about it.

use std::fmt;

use thiserror::Error;

use super::limits::{
    API_MEMORY_MB, API_TIMEOUT_S, CONFIG_BYTES_MAX, CORS_ORIGINS_MAX, EMAIL_CHARS_MAX,
    INCARNATION_MAX, KEEP_SEGMENTS, LOG_RETENTION_DAYS, OFFLOAD_AFTER_DAYS, OIDC_ISSUERS_MAX,
    PER_5_MINUTES, PUBLIC_KEY_CHARS, REGION_CHARS_MAX, STACK_NAME_CHARS_MAX, STAGE_NAME_CHARS_MAX,
    STAGES_MAX, TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX, TOKEN_CLAIM_CHARS_MAX,
    TOKEN_KEY_ID_CHARS_MAX, TOKEN_KEYS_MAX, TOKENS_BYTES_MAX, TOPIC_NAME_CHARS_MAX,
    WEBHOOK_URL_CHARS_MAX,
};
use super::oidc::IssuerFault;
use super::origin::OriginFault;
use crate::suggest;

/// Where in a file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// A field that Cellar does not have, with the nearest one that it has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{file_name}: unknown field `{field}`{}{}{}; known fields: {}",
    in_section(section),
    at(*position),
    suggest::hint(suggestion.as_deref()),
    known.join(", ")
)]
pub struct UnknownField {
    /// The file, as the caller names it.
    pub file_name: String,
    /// The section that holds it, as `tokens.keys[0]`; empty at the top.
    pub section: String,
    /// The field as written.
    pub field: String,
    /// Where it is, if the parser knows.
    pub position: Option<SourcePosition>,
    /// The known field that is nearest, if one is near.
    pub suggestion: Option<String>,
    /// All fields of that section.
    pub known: Vec<String>,
}

/// Why a configuration file was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The file is larger than [`CONFIG_BYTES_MAX`].
    #[error(
        "{file_name}: {bytes} bytes are too many for a configuration; at most {CONFIG_BYTES_MAX} are read"
    )]
    TooLarge {
        /// The file, as the caller names it.
        file_name: String,
        /// Its size.
        bytes: usize,
    },
    /// The text is no YAML, or a value has the wrong type.
    #[error("{file_name}: {message}")]
    Malformed {
        /// The file, as the caller names it.
        file_name: String,
        /// Where it is, if the parser knows.
        position: Option<SourcePosition>,
        /// What the parser said, with the path of the field and the place.
        message: String,
    },
    /// A field that Cellar does not have.
    #[error(transparent)]
    UnknownField(Box<UnknownField>),
    /// Values out of bounds: all of them, so that one run shows everything.
    #[error("{file_name}: {}", join(problems))]
    Invalid {
        /// The file, as the caller names it.
        file_name: String,
        /// What is wrong, in the order of the fields.
        problems: Vec<ConfigProblem>,
    },
}

fn in_section(section: &str) -> String {
    if section.is_empty() { String::new() } else { format!(" in `{section}`") }
}

fn at(position: Option<SourcePosition>) -> String {
    position.map_or_else(String::new, |position| format!(" at {position}"))
}

fn join(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// One value that is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigProblem {
    /// `stack` breaks CloudFormation's rule for names.
    #[error(
        "`stack` is `{value}`: use 1 to {STACK_NAME_CHARS_MAX} letters, digits and hyphens, a letter first"
    )]
    StackName {
        /// As written.
        value: String,
    },
    /// The name of a stage cannot be part of a stack's.
    #[error(
        "`stages` names a stage `{value}`: use 1 to {STAGE_NAME_CHARS_MAX} letters, digits and hyphens"
    )]
    StageName {
        /// As written.
        value: String,
    },
    /// More than [`STAGES_MAX`] stages.
    #[error("`stages` lists {count} stages: at most {STAGES_MAX} are allowed")]
    TooManyStages {
        /// How many there are.
        count: usize,
    },
    /// Two stages would be one stack.
    #[error(
        "the stages {one} and {other} are both the stack `{stack}` of the same region: name another in one"
    )]
    StagesShareStack {
        /// A stage.
        one: String,
        /// Another one.
        other: String,
        /// The stack's name.
        stack: String,
    },
    /// `region` cannot be a region.
    #[error(
        "`region` is `{value}`: use a region's code such as eu-central-1 (at most {REGION_CHARS_MAX} characters), or leave it out"
    )]
    Region {
        /// As written.
        value: String,
    },
    /// `tokens.issuer` or `tokens.audience` is empty, too long or holds control characters.
    #[error("`tokens.{field}` has to be 1 to {TOKEN_CLAIM_CHARS_MAX} printable characters")]
    TokenClaim {
        /// `issuer` or `audience`.
        field: &'static str,
    },
    /// More than [`TOKEN_KEYS_MAX`] keys.
    #[error(
        "`tokens.keys` lists {count} keys: at most {TOKEN_KEYS_MAX} are allowed; remove those that no token uses any more"
    )]
    TooManyTokenKeys {
        /// How many there are.
        count: usize,
    },
    /// The id of a key has the wrong form.
    #[error(
        "`tokens.keys[{index}].id` is `{value}`: use 1 to {TOKEN_KEY_ID_CHARS_MAX} of the characters A-Z a-z 0-9 . _ -"
    )]
    TokenKeyId {
        /// Place in the list, from 0.
        index: usize,
        /// As written.
        value: String,
    },
    /// Two keys share an id.
    #[error(
        "`tokens.keys[{index}].id` is `{value}`, which an earlier key has already: give each key an id of its own"
    )]
    DuplicateTokenKeyId {
        /// Place of the second one, from 0.
        index: usize,
        /// The id.
        value: String,
    },
    /// A public key is not 32 bytes in base64url.
    #[error(
        "`tokens.keys[{index}].public_key` is not a public key: expected {PUBLIC_KEY_CHARS} characters, the 32 bytes of an Ed25519 key in base64url without padding"
    )]
    PublicKey {
        /// Place in the list, from 0.
        index: usize,
    },
    /// More than [`OIDC_ISSUERS_MAX`] issuers.
    #[error("`tokens.oidc` lists {count} issuers: at most {OIDC_ISSUERS_MAX} are allowed")]
    TooManyIssuers {
        /// How many there are.
        count: usize,
    },
    /// An issuer that cannot be believed.
    #[error("`tokens.oidc[{index}]`: {fault}")]
    Issuer {
        /// Place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        fault: IssuerFault,
    },
    /// All of `tokens` together is more than a function's environment has room for.
    #[error(
        "`tokens` has {bytes} bytes: at most {TOKENS_BYTES_MAX} are allowed; remove keys that no token uses any more, or issuers"
    )]
    TokensTooLarge {
        /// As the function is told of them.
        bytes: usize,
    },
    /// `tokens.not_before_s` lies after the year 9999: it is in milliseconds, perhaps.
    #[error("`tokens.not_before_s` is {value}: use Unix seconds, as `date +%s` prints them")]
    NotBefore {
        /// As written.
        value: u64,
    },
    /// `webhook.url` is no URL, or one in clear text, or of an address that is not public.
    #[error(
        "`webhook.url` has to be a URL that begins with https:// and a host of the public internet (or http://127.0.0.1 while developing), of at most {WEBHOOK_URL_CHARS_MAX} characters"
    )]
    WebhookUrl,
    /// More than [`CORS_ORIGINS_MAX`] origins.
    #[error("`cors_origins` lists {count} origins: at most {CORS_ORIGINS_MAX} are allowed")]
    TooManyOrigins {
        /// How many there are.
        count: usize,
    },
    /// An origin that no browser would send, or that is too wide.
    #[error("`cors_origins[{index}]` is `{value}`: {fault}")]
    Origin {
        /// Place in the list, from 0.
        index: usize,
        /// As written.
        value: String,
        /// What is wrong with it.
        fault: OriginFault,
    },
    /// `api.memory_mb` is out of Lambda's range.
    #[error("`api.memory_mb` is {value}: use {} to {}", API_MEMORY_MB.start(), API_MEMORY_MB.end())]
    Memory {
        /// As written.
        value: u32,
    },
    /// `api.timeout_s` is out of range.
    #[error("`api.timeout_s` is {value}: use {} to {}", API_TIMEOUT_S.start(), API_TIMEOUT_S.end())]
    Timeout {
        /// As written.
        value: u32,
    },
    /// A number below `snapshots` is out of range.
    #[error("`snapshots.{field}` is {value}: use {from} to {to}")]
    Snapshots {
        /// The field.
        field: &'static str,
        /// As written.
        value: u64,
        /// The least that is allowed.
        from: u64,
        /// The most that is allowed.
        to: u64,
    },
    /// `log_retention_days` is a number that CloudWatch Logs does not accept.
    #[error("`log_retention_days` is {value}: CloudWatch Logs accepts only {}", allowed_days())]
    LogRetention {
        /// As written.
        value: u32,
    },
    /// `offload_after_days` is out of range.
    #[error(
        "`offload_after_days` is {value}: use {} to {}, or leave it out to keep everything",
        OFFLOAD_AFTER_DAYS.start(),
        OFFLOAD_AFTER_DAYS.end()
    )]
    OffloadAfter {
        /// As written.
        value: u32,
    },
    /// `keep_segments` is out of range.
    #[error("`keep_segments` is {value}: use {} to {}", KEEP_SEGMENTS.start(), KEEP_SEGMENTS.end())]
    KeepSegments {
        /// As written.
        value: u32,
    },
    /// `incarnation` is out of range.
    #[error(
        "`incarnation` is {value}: it is {INCARNATION_MAX} at most, and only `synth restore` raises it"
    )]
    Incarnation {
        /// As written.
        value: u32,
    },
    /// More than [`TAGS_MAX`] tags.
    #[error("`tags` lists {count} tags: AWS accepts at most {TAGS_MAX} on a resource")]
    TooManyTags {
        /// How many there are.
        count: usize,
    },
    /// A tag that not every service of the stack accepts.
    #[error("`tags` has the key `{key}`: {fault}")]
    Tag {
        /// Its key, as written.
        key: String,
        /// What is wrong with it.
        fault: TagFault,
    },
    /// `encryption.kms_key_arn` is not the ARN of a key.
    #[error(
        "`encryption.kms_key_arn` is `{value}`: use the ARN of a KMS key, such as arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef (permissions cannot name an alias)"
    )]
    KmsKeyArn {
        /// As written.
        value: String,
    },
    /// `alarms.topic_arn` is not the ARN of a standard topic.
    #[error(
        "`alarms.topic_arn` is `{value}`: use the ARN of a standard SNS topic, such as arn:aws:sns:eu-central-1:123456789012:operators (its name has at most {TOPIC_NAME_CHARS_MAX} letters, digits, - and _)"
    )]
    TopicArn {
        /// As written.
        value: String,
    },
    /// Something that has to be in the stack's region is in another.
    #[error("`{field}` is in {region}, the stack in {wanted}: both have to be in one region")]
    ArnRegion {
        /// The field.
        field: &'static str,
        /// The region of the ARN.
        region: String,
        /// `region` of the configuration.
        wanted: String,
    },
    /// `alarms.email` cannot be an address.
    #[error(
        "`alarms.email` is `{value}`: use one address such as operators@example.com, at most {EMAIL_CHARS_MAX} characters"
    )]
    Email {
        /// As written.
        value: String,
    },
    /// A number below `alarms` is out of range.
    #[error("`alarms.{field}` is {value}: use {} to {}", PER_5_MINUTES.start(), PER_5_MINUTES.end())]
    AlarmAbove {
        /// The field.
        field: &'static str,
        /// As written.
        value: u32,
    },
    /// `local.port` is 0.
    #[error("`local.port` is 0: choose a port from 1 to 65535, so that the URL stays the same")]
    Port,
}

/// Why a tag is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TagFault {
    /// The key is empty, too long or has characters that a service refuses.
    #[error(
        "use 1 to {TAG_KEY_CHARS_MAX} letters, digits, spaces (not at the ends) and _ . : / = + - @"
    )]
    Key,
    /// The key begins with `aws:`.
    #[error("keys that begin with `aws:` belong to AWS; choose another one")]
    Reserved,
    /// Another key differs only in case.
    #[error("another key differs only in case, which IAM refuses; remove one of them")]
    Case,
    /// The value is too long or has characters that a service refuses.
    #[error(
        "its value may have at most {TAG_VALUE_CHARS_MAX} letters, digits, spaces (not at the ends) and _ . : / = + - @"
    )]
    Value,
}

fn allowed_days() -> String {
    LOG_RETENTION_DAYS.map(|days| days.to_string()).join(", ")
}
