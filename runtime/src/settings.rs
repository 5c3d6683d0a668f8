//! Settings of the Lambda functions, which are read from environment variables. The `stacks` crate
//! sets these variables. Their names are defined in [`cellar_api::environment`].

use std::str::FromStr;

use cellar_api::environment;
use cellar_catalog::oidc::OidcIssuer;
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::upkeep::LogPolicy;
use serde::Deserialize;

/// Settings of the API function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiSettings {
    pub entry_table: String,
    pub segment_table: String,
    pub event_stream_table: String,
    pub feed_table: String,
    /// Number of times that the tables were restored (incarnation). Entries that were written
    /// before a restore are returned with this number too.
    pub incarnation: u32,
    pub bucket: String,
    pub stack: String,
    /// Request timeout in milliseconds. The API responds with status 503 to requests that take
    /// longer.
    pub request_timeout_ms: u64,
    /// Validation rules for API tokens.
    pub tokens: TokenSettings,
    /// Determines when an append also writes a Snapshot entry or starts a new log segment. If
    /// `None`, appends never do so.
    pub upkeep: Option<LogPolicy>,
}

/// Settings of the relay function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelaySettings {
    /// URL of the snapshot job queue.
    pub snapshot_queue: String,
    /// URL of the dead-letter queue for change stream records.
    pub dead_letter_queue: String,
    /// Name of the S3 bucket that stores external entry bodies.
    pub bucket: String,
}

/// Settings of the indexer function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexerSettings {
    pub event_stream_table: String,
    pub feed_table: String,
    /// Name of the Entry table, or `None` if the feed does not include appends to logs.
    pub entry_table: Option<String>,
    /// URL of the dead-letter queue for change stream records.
    pub dead_letter_queue: String,
    /// Number of times that the tables were restored (incarnation).
    pub incarnation: u32,
}

/// Settings of the webhook function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// URL to which the feed is delivered.
    pub url: String,
    /// Whether deliveries contain event payloads.
    pub events: bool,
    pub event_stream_table: String,
    pub feed_table: String,
    /// Name of the S3 bucket that stores the webhook's signing secrets.
    pub bucket: String,
    pub stack: String,
    /// Number of times that the tables were restored (incarnation).
    pub incarnation: u32,
}

/// Settings of the snapshot function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSettings {
    pub entry_table: String,
    pub segment_table: String,
    pub pending_snapshots_table: String,
    pub bucket: String,
    /// URL of the snapshot job queue.
    pub snapshot_queue: String,
}

/// Validation rules for bearer tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSettings {
    /// Value that the `iss` claim must have in tokens signed by the stack.
    pub issuer: String,
    /// Value that the `aud` claim must have in tokens signed by the stack.
    pub audience: String,
    /// Public keys of the stack. If empty, only tokens of OIDC issuers are accepted.
    pub keys: Vec<PublicKey>,
    pub oidc: Vec<OidcIssuer>,
    /// Tokens that were issued before this time are rejected, in Unix seconds.
    pub not_before_s: u64,
}

impl TokenSettings {
    /// Creates validation rules that accept only tokens signed with the given `keys` of the stack.
    /// Tokens of OpenID Connect issuers are rejected.
    #[must_use]
    pub fn own(issuer: &str, audience: &str, keys: Vec<PublicKey>) -> Self {
        let (issuer, audience) = (issuer.to_owned(), audience.to_owned());
        Self { issuer, audience, keys, oidc: Vec::new(), not_before_s: 0 }
    }
}

/// One of the stack's public keys.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicKey {
    /// Key id, which the `kid` header of a token contains if the token is signed with this key.
    pub id: String,
    /// Ed25519 public key of 32 bytes, base64url-encoded without padding.
    pub public_key: String,
}

/// An environment variable is missing or invalid, so the function cannot start. If this applies to
/// several variables, the first one is reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("the environment variable {name} is not set; deploy the stack again")]
    Missing { name: &'static str },
    #[error(
        "the environment variable {name} has the invalid value `{value}`; deploy the stack again"
    )]
    Malformed { name: &'static str, value: String },
    #[error("{name} is not a valid list of public keys: {why}", name = environment::TOKEN_KEYS)]
    Keys { why: String },
    #[error("{name} is not a valid list of OIDC issuers: {why}", name = environment::TOKEN_OIDC)]
    Issuers { why: String },
    #[error("{name} is not a valid log policy: {why}", name = environment::UPKEEP)]
    Upkeep { why: String },
    /// This build of the binary does not contain a function with the given name.
    #[error("unknown function `{function}` in {name}", name = environment::FUNCTION)]
    UnknownFunction { function: String },
}

impl ApiSettings {
    /// Reads the settings of the API function from the variables that `read_variable` returns.
    pub fn read(read_variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| read_variable(name).ok_or(SettingsError::Missing { name });
        let public_keys = serde_json::from_str(&required(environment::TOKEN_KEYS)?)
            .map_err(|error| SettingsError::Keys { why: error.to_string() })?;
        let oidc_issuers = match read_variable(environment::TOKEN_OIDC) {
            Some(issuers) => serde_json::from_str(&issuers)
                .map_err(|error| SettingsError::Issuers { why: error.to_string() })?,
            None => Vec::new(),
        };
        let log_policy = match read_variable(environment::UPKEEP) {
            Some(policy) => serde_json::from_str(&policy)
                .map_err(|error| SettingsError::Upkeep { why: error.to_string() })?,
            None => None,
        };
        let request_timeout = required(environment::REQUEST_TIMEOUT_MS)?;
        Ok(Self {
            request_timeout_ms: parse_value(environment::REQUEST_TIMEOUT_MS, request_timeout)?,
            incarnation: read_incarnation(&read_variable)?,
            upkeep: log_policy,
            entry_table: required(environment::ENTRY_TABLE)?,
            segment_table: required(environment::SEGMENT_TABLE)?,
            event_stream_table: required(environment::EVENT_STREAM_TABLE)?,
            feed_table: required(environment::FEED_TABLE)?,
            bucket: required(environment::BUCKET)?,
            stack: required(environment::STACK)?,
            tokens: TokenSettings {
                issuer: required(environment::TOKEN_ISSUER)?,
                audience: required(environment::TOKEN_AUDIENCE)?,
                keys: public_keys,
                oidc: oidc_issuers,
                not_before_s: read_or_default(&read_variable, environment::TOKEN_NOT_BEFORE_S, 0)?,
            },
        })
    }
}

fn read_incarnation(read_variable: impl Fn(&str) -> Option<String>) -> Result<u32, SettingsError> {
    read_or_default(read_variable, environment::INCARNATION, FIRST_INCARNATION)
}

fn read_or_default<T: FromStr>(
    read_variable: impl Fn(&str) -> Option<String>,
    name: &'static str,
    default: T,
) -> Result<T, SettingsError> {
    match read_variable(name) {
        Some(value) => parse_value(name, value),
        None => Ok(default),
    }
}

fn parse_value<T: FromStr>(name: &'static str, value: String) -> Result<T, SettingsError> {
    value.parse().map_err(|_| SettingsError::Malformed { name, value })
}

impl IndexerSettings {
    /// Reads the settings of the indexer function from the variables that `read_variable` returns.
    pub fn read(read_variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| read_variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            event_stream_table: required(environment::EVENT_STREAM_TABLE)?,
            feed_table: required(environment::FEED_TABLE)?,
            entry_table: read_variable(environment::ENTRY_TABLE),
            dead_letter_queue: required(environment::DEAD_LETTER_QUEUE)?,
            incarnation: read_incarnation(&read_variable)?,
        })
    }
}

impl WebhookSettings {
    /// Reads the settings of the webhook function from the variables that `read_variable` returns.
    pub fn read(read_variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| read_variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            url: required(environment::WEBHOOK_URL)?,
            events: read_or_default(&read_variable, environment::WEBHOOK_EVENTS, false)?,
            event_stream_table: required(environment::EVENT_STREAM_TABLE)?,
            feed_table: required(environment::FEED_TABLE)?,
            bucket: required(environment::BUCKET)?,
            stack: required(environment::STACK)?,
            incarnation: read_incarnation(&read_variable)?,
        })
    }
}

impl RelaySettings {
    /// Reads the settings of the relay function from the variables that `read_variable` returns.
    pub fn read(read_variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| read_variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            snapshot_queue: required(environment::SNAPSHOT_QUEUE)?,
            dead_letter_queue: required(environment::DEAD_LETTER_QUEUE)?,
            bucket: required(environment::BUCKET)?,
        })
    }
}

impl SnapshotSettings {
    /// Reads the settings of the snapshot function from the variables that `read_variable` returns.
    pub fn read(read_variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| read_variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            entry_table: required(environment::ENTRY_TABLE)?,
            segment_table: required(environment::SEGMENT_TABLE)?,
            pending_snapshots_table: required(environment::PENDING_SNAPSHOTS_TABLE)?,
            bucket: required(environment::BUCKET)?,
            snapshot_queue: required(environment::SNAPSHOT_QUEUE)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 10] = [
        environment::REQUEST_TIMEOUT_MS,
        environment::ENTRY_TABLE,
        environment::SEGMENT_TABLE,
        environment::EVENT_STREAM_TABLE,
        environment::FEED_TABLE,
        environment::BUCKET,
        environment::STACK,
        environment::TOKEN_ISSUER,
        environment::TOKEN_AUDIENCE,
        environment::TOKEN_KEYS,
    ];

    fn value(name: &str) -> String {
        match name {
            environment::UPKEEP => serde_json::to_string(&LogPolicy::default()).unwrap_or_default(),
            environment::TOKEN_KEYS => r#"[{"id":"k1","public_key":"AA"}]"#.to_owned(),
            environment::TOKEN_OIDC => r#"[{"issuer":"https://i","audience":"a"}]"#.to_owned(),
            environment::TOKEN_NOT_BEFORE_S => "1800000000".to_owned(),
            environment::REQUEST_TIMEOUT_MS => "28000".to_owned(),
            environment::INCARNATION => "3".to_owned(),
            name => name.to_lowercase(),
        }
    }

    #[test]
    fn names_the_missing_variable_of_the_api() {
        let settings = ApiSettings::read(|name| Some(value(name))).unwrap();
        assert_eq!(settings.tokens.keys[0].id, "k1");
        for missing in NAMES {
            let read = ApiSettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
    }

    #[test]
    fn issuers_and_not_before_are_optional_but_validated() {
        let tokens = ApiSettings::read(|name| Some(value(name))).unwrap().tokens;
        assert_eq!(
            (tokens.oidc[0].issuer.as_str(), tokens.not_before_s),
            ("https://i", 1_800_000_000)
        );
        let optional = [environment::TOKEN_OIDC, environment::TOKEN_NOT_BEFORE_S];
        let without = |name: &str| (!optional.contains(&name)).then(|| value(name));
        let tokens = ApiSettings::read(without).unwrap().tokens;
        assert_eq!((tokens.oidc.len(), tokens.not_before_s), (0, 0));
        let with = |wrong: &'static str, text: &str| {
            let text = text.to_owned();
            ApiSettings::read(|name| Some(if name == wrong { text.clone() } else { value(name) }))
        };
        for issuers in ["", "{}", r#"[{"issuer":"i"}]"#, r#"[{"issuer":"i","audience":"a","x":1}]"#]
        {
            let read = with(environment::TOKEN_OIDC, issuers);
            assert!(matches!(read, Err(SettingsError::Issuers { .. })), "{issuers}");
        }
        let read = with(environment::TOKEN_NOT_BEFORE_S, "yesterday");
        assert!(matches!(read, Err(SettingsError::Malformed { .. })));
    }

    #[test]
    fn the_log_policy_is_optional_but_validated() {
        let settings = ApiSettings::read(|name| Some(value(name))).unwrap();
        assert_eq!(settings.upkeep, Some(LogPolicy::default()));
        let without = |name: &str| (name != environment::UPKEEP).then(|| value(name));
        assert_eq!(ApiSettings::read(without).unwrap().upkeep, None);
        let wrong = |name: &str| match name == environment::UPKEEP {
            true => Some(r#"{"snapshot_entries":1000}"#.to_owned()),
            false => Some(value(name)),
        };
        assert!(matches!(ApiSettings::read(wrong), Err(SettingsError::Upkeep { .. })));
    }

    #[test]
    fn the_incarnation_defaults_to_the_first_and_is_validated() {
        assert_eq!(ApiSettings::read(|name| Some(value(name))).unwrap().incarnation, 3);
        let without = |name: &str| (name != environment::INCARNATION).then(|| value(name));
        assert_eq!(ApiSettings::read(without).unwrap().incarnation, FIRST_INCARNATION);
        let wrong = |name: &str| match name == environment::INCARNATION {
            true => Some("-1".to_owned()),
            false => Some(value(name)),
        };
        assert!(matches!(ApiSettings::read(wrong), Err(SettingsError::Malformed { .. })));
    }

    #[test]
    fn names_the_missing_variable_of_the_indexer() {
        let settings = IndexerSettings::read(|name| Some(value(name))).unwrap();
        assert_eq!((settings.feed_table.as_str(), settings.incarnation), ("cellar_feed_table", 3));
        for missing in [
            environment::EVENT_STREAM_TABLE,
            environment::FEED_TABLE,
            environment::DEAD_LETTER_QUEUE,
        ] {
            let read = IndexerSettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
        let without = |name: &str| (name != environment::INCARNATION).then(|| value(name));
        assert_eq!(IndexerSettings::read(without).unwrap().incarnation, FIRST_INCARNATION);
    }

    #[test]
    fn names_the_missing_variable_of_the_webhook() {
        let settings = |name: &str| match name {
            environment::WEBHOOK_EVENTS => Some("true".to_owned()),
            name => Some(value(name)),
        };
        assert!(WebhookSettings::read(settings).unwrap().events);
        let without = |name: &str| (name != environment::WEBHOOK_EVENTS).then(|| value(name));
        assert!(!WebhookSettings::read(without).unwrap().events);
        assert!(WebhookSettings::read(|name| Some(value(name))).is_err(), "neither true nor false");
        for missing in [
            environment::WEBHOOK_URL,
            environment::EVENT_STREAM_TABLE,
            environment::FEED_TABLE,
            environment::BUCKET,
            environment::STACK,
        ] {
            let read =
                WebhookSettings::read(|name| (name != missing).then(|| settings(name)).flatten());
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
    }

    #[test]
    fn names_the_missing_variable_of_the_relay() {
        let settings = RelaySettings::read(|name| Some(value(name))).unwrap();
        assert_eq!(settings.snapshot_queue, environment::SNAPSHOT_QUEUE.to_lowercase());
        for missing in
            [environment::SNAPSHOT_QUEUE, environment::DEAD_LETTER_QUEUE, environment::BUCKET]
        {
            let read = RelaySettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
    }

    #[test]
    fn names_the_missing_variable_of_the_snapshot_function() {
        let settings = SnapshotSettings::read(|name| Some(value(name))).unwrap();
        let table = environment::PENDING_SNAPSHOTS_TABLE;
        assert_eq!(settings.pending_snapshots_table, table.to_lowercase());
        for missing in [
            environment::ENTRY_TABLE,
            environment::SEGMENT_TABLE,
            table,
            environment::BUCKET,
            environment::SNAPSHOT_QUEUE,
        ] {
            let read = SnapshotSettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
    }

    #[test]
    fn rejects_a_timeout_that_is_not_a_number() {
        let variable = |name: &str| {
            let timeout = name == environment::REQUEST_TIMEOUT_MS;
            Some(if timeout { "soon".to_owned() } else { value(name) })
        };
        assert!(matches!(ApiSettings::read(variable), Err(SettingsError::Malformed { .. })));
    }

    #[test]
    fn rejects_invalid_public_keys() {
        for keys in ["", "{}", r#"[{"id":"k1"}]"#, r#"[{"id":"k1","public_key":"A","x":1}]"#] {
            let variable = |name: &str| {
                Some(if name == environment::TOKEN_KEYS { keys.to_owned() } else { value(name) })
            };
            assert!(matches!(ApiSettings::read(variable), Err(SettingsError::Keys { .. })));
        }
    }
}
