//! What a function is told by its environment variables; `stacks` sets them, under the names of
//! [`cellar_api::environment`].

use std::str::FromStr;

use cellar_api::environment;
use cellar_catalog::oidc::OidcIssuer;
use cellar_log::entry::FIRST_INCARNATION;
use cellar_log::upkeep::LogPolicy;
use serde::Deserialize;

/// What the API needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiSettings {
    /// Name of the Entry table.
    pub entry_table: String,
    /// Name of the Segment table.
    pub segment_table: String,
    /// Name of the EventStream table.
    pub event_stream_table: String,
    /// Name of the Feed table.
    pub feed_table: String,
    /// Incarnation of the tables: every log has at least this one.
    pub incarnation: u32,
    /// Name of the bucket.
    pub bucket: String,
    /// Name of the stack.
    pub stack: String,
    /// Milliseconds after which a request is answered with "try again".
    pub request_timeout_ms: u64,
    /// Whose tokens are accepted.
    pub tokens: TokenSettings,
    /// When logs get Snapshot entries and new segments; never if absent.
    pub upkeep: Option<LogPolicy>,
}

/// What the relay needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelaySettings {
    /// URL of the queue of snapshot jobs.
    pub snapshot_queue: String,
    /// Name of the bucket with the external bodies.
    pub bucket: String,
}

/// What the indexer needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexerSettings {
    /// Name of the EventStream table.
    pub event_stream_table: String,
    /// Name of the Feed table.
    pub feed_table: String,
    /// Name of the Entry table, if the entries of logs are indexed, too.
    pub entry_table: Option<String>,
    /// Incarnation of the tables.
    pub incarnation: u32,
}

/// What the webhook needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Where the feed is delivered to.
    pub url: String,
    /// Whether it tells what events say.
    pub events: bool,
    /// Name of the EventStream table.
    pub event_stream_table: String,
    /// Name of the Feed table.
    pub feed_table: String,
    /// Name of the bucket with its secrets.
    pub bucket: String,
    /// Name of the stack.
    pub stack: String,
    /// Incarnation of the tables.
    pub incarnation: u32,
}

/// What the worker on snapshots needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSettings {
    /// Name of the Entry table.
    pub entry_table: String,
    /// Name of the Segment table.
    pub segment_table: String,
    /// Name of the PendingSnapshots table.
    pub pending_snapshots_table: String,
    /// Name of the bucket.
    pub bucket: String,
    /// URL of the queue of snapshot jobs.
    pub snapshot_queue: String,
}

/// The tokens that are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSettings {
    /// The `iss` they must carry.
    pub issuer: String,
    /// The `aud` they must carry.
    pub audience: String,
    /// The public keys; none means that nobody gets in with a token of the stack's own.
    pub keys: Vec<PublicKey>,
    /// Other issuers whose tokens are accepted.
    pub oidc: Vec<OidcIssuer>,
    /// Tokens that were made before this moment, Unix seconds, are refused.
    pub not_before_s: u64,
}

impl TokenSettings {
    /// The stack's own keys and nobody else.
    #[must_use]
    pub fn own(issuer: &str, audience: &str, keys: Vec<PublicKey>) -> Self {
        let (issuer, audience) = (issuer.to_owned(), audience.to_owned());
        Self { issuer, audience, keys, oidc: Vec::new(), not_before_s: 0 }
    }
}

/// One public key of the stack.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicKey {
    /// The `kid` of tokens signed with it.
    pub id: String,
    /// 32 bytes, Ed25519, base64url without padding.
    pub public_key: String,
}

/// An environment that the function cannot start with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A variable that is not set.
    #[error("the environment variable {name} is not set: deploy the stack again")]
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// A number that is none, or something that is neither `true` nor `false`.
    #[error("the environment variable {name} is `{value}`, which it cannot be")]
    Malformed {
        /// Its name.
        name: &'static str,
        /// What it says.
        value: String,
    },
    /// Keys that are no keys.
    #[error("{name} is not a list of public keys: {why}", name = environment::TOKEN_KEYS)]
    Keys {
        /// What is wrong.
        why: String,
    },
    /// Issuers that are none.
    #[error("{name} is not a list of issuers: {why}", name = environment::TOKEN_OIDC)]
    Issuers {
        /// What is wrong.
        why: String,
    },
    /// An upkeep that is none.
    #[error("{name} is not a policy of upkeep: {why}", name = environment::UPKEEP)]
    Upkeep {
        /// What is wrong.
        why: String,
    },
    /// A function that this binary does not have.
    #[error("{name} is `{function}`: this build has no such function", name = environment::FUNCTION)]
    UnknownFunction {
        /// The function.
        function: String,
    },
}

impl ApiSettings {
    /// Reads the settings from variables.
    ///
    /// # Errors
    /// [`SettingsError`] with the variable that is missing or wrong.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| variable(name).ok_or(SettingsError::Missing { name });
        let keys = required(environment::TOKEN_KEYS)?;
        let keys = serde_json::from_str(&keys)
            .map_err(|error| SettingsError::Keys { why: error.to_string() })?;
        let oidc = variable(environment::TOKEN_OIDC).map(|issuers| serde_json::from_str(&issuers));
        let oidc =
            oidc.transpose().map_err(|error| SettingsError::Issuers { why: error.to_string() })?;
        let upkeep = variable(environment::UPKEEP).map(|policy| serde_json::from_str(&policy));
        let upkeep =
            upkeep.transpose().map_err(|error| SettingsError::Upkeep { why: error.to_string() })?;
        let name = environment::REQUEST_TIMEOUT_MS;
        let value = required(name)?;
        let request_timeout_ms =
            value.parse().map_err(|_| SettingsError::Malformed { name, value })?;
        Ok(Self {
            request_timeout_ms,
            incarnation: incarnation(&variable)?,
            upkeep,
            entry_table: required(environment::ENTRY_TABLE)?,
            segment_table: required(environment::SEGMENT_TABLE)?,
            event_stream_table: required(environment::EVENT_STREAM_TABLE)?,
            feed_table: required(environment::FEED_TABLE)?,
            bucket: required(environment::BUCKET)?,
            stack: required(environment::STACK)?,
            tokens: TokenSettings {
                issuer: required(environment::TOKEN_ISSUER)?,
                audience: required(environment::TOKEN_AUDIENCE)?,
                keys,
                oidc: oidc.unwrap_or_default(),
                not_before_s: number_or(&variable, environment::TOKEN_NOT_BEFORE_S, 0)?,
            },
        })
    }
}

fn incarnation(variable: impl Fn(&str) -> Option<String>) -> Result<u32, SettingsError> {
    number_or(variable, environment::INCARNATION, FIRST_INCARNATION)
}

fn number_or<N: FromStr>(
    variable: impl Fn(&str) -> Option<String>,
    name: &'static str,
    absent: N,
) -> Result<N, SettingsError> {
    let Some(value) = variable(name) else { return Ok(absent) };
    value.parse().map_err(|_| SettingsError::Malformed { name, value })
}

impl IndexerSettings {
    /// Reads the settings from variables.
    ///
    /// # Errors
    /// [`SettingsError`] with the variable that is missing or wrong.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            event_stream_table: required(environment::EVENT_STREAM_TABLE)?,
            feed_table: required(environment::FEED_TABLE)?,
            entry_table: variable(environment::ENTRY_TABLE),
            incarnation: incarnation(&variable)?,
        })
    }
}

impl WebhookSettings {
    /// Reads the settings from variables.
    ///
    /// # Errors
    /// [`SettingsError`] with the variable that is missing or wrong.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            url: required(environment::WEBHOOK_URL)?,
            events: number_or(&variable, environment::WEBHOOK_EVENTS, false)?,
            event_stream_table: required(environment::EVENT_STREAM_TABLE)?,
            feed_table: required(environment::FEED_TABLE)?,
            bucket: required(environment::BUCKET)?,
            stack: required(environment::STACK)?,
            incarnation: incarnation(&variable)?,
        })
    }
}

impl RelaySettings {
    /// Reads the settings from variables.
    ///
    /// # Errors
    /// [`SettingsError`] with the variable that is missing.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| variable(name).ok_or(SettingsError::Missing { name });
        Ok(Self {
            snapshot_queue: required(environment::SNAPSHOT_QUEUE)?,
            bucket: required(environment::BUCKET)?,
        })
    }
}

impl SnapshotSettings {
    /// Reads the settings from variables.
    ///
    /// # Errors
    /// [`SettingsError`] with the variable that is missing.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name| variable(name).ok_or(SettingsError::Missing { name });
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
    fn every_variable_is_needed_and_named_when_it_is_missing() {
        let settings = ApiSettings::read(|name| Some(value(name))).unwrap();
        assert_eq!(settings.tokens.keys[0].id, "k1");
        for missing in NAMES {
            let read = ApiSettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
    }

    #[test]
    fn issuers_and_a_moment_may_be_absent_but_not_wrong() {
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
    fn upkeep_may_be_absent_but_not_wrong() {
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
    fn without_an_incarnation_it_is_the_first_and_a_wrong_one_is_refused() {
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
    fn the_indexer_needs_its_tables() {
        let settings = IndexerSettings::read(|name| Some(value(name))).unwrap();
        assert_eq!((settings.feed_table.as_str(), settings.incarnation), ("cellar_feed_table", 3));
        for missing in [environment::EVENT_STREAM_TABLE, environment::FEED_TABLE] {
            let read = IndexerSettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
        let without = |name: &str| (name != environment::INCARNATION).then(|| value(name));
        assert_eq!(IndexerSettings::read(without).unwrap().incarnation, FIRST_INCARNATION);
    }

    #[test]
    fn the_webhook_needs_a_url_and_its_tables() {
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
    fn the_relay_needs_its_queue_and_its_bucket() {
        let settings = RelaySettings::read(|name| Some(value(name))).unwrap();
        assert_eq!(settings.snapshot_queue, environment::SNAPSHOT_QUEUE.to_lowercase());
        for missing in [environment::SNAPSHOT_QUEUE, environment::BUCKET] {
            let read = RelaySettings::read(|name| (name != missing).then(|| value(name)));
            assert_eq!(read, Err(SettingsError::Missing { name: missing }));
        }
    }

    #[test]
    fn the_worker_on_snapshots_needs_all_of_its_variables() {
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
    fn a_timeout_that_is_no_number_is_refused() {
        let variable = |name: &str| {
            let timeout = name == environment::REQUEST_TIMEOUT_MS;
            Some(if timeout { "soon".to_owned() } else { value(name) })
        };
        assert!(matches!(ApiSettings::read(variable), Err(SettingsError::Malformed { .. })));
    }

    #[test]
    fn keys_that_are_no_keys_are_refused() {
        for keys in ["", "{}", r#"[{"id":"k1"}]"#, r#"[{"id":"k1","public_key":"A","x":1}]"#] {
            let variable = |name: &str| {
                Some(if name == environment::TOKEN_KEYS { keys.to_owned() } else { value(name) })
            };
            assert!(matches!(ApiSettings::read(variable), Err(SettingsError::Keys { .. })));
        }
    }
}
