//! `cellar.yaml`: what a customer may choose about a stack.
//!
//! Every field has a default, so that an empty file is a complete configuration. Fields that are
//! not known are refused with the nearest known one, because a setting that is silently ignored
//! is worse than none.

mod alarms;
mod architecture;
mod arn;
mod documented;
mod encryption;
mod error;
mod feed;
pub mod limits;
mod oidc;
mod origin;
mod parse;
mod snapshots;
mod stages;
mod tags;
mod validate;
mod webhook;

use std::collections::BTreeMap;

use cellar_catalog::oidc::OidcIssuer;
use serde::{Deserialize, Serialize};

use limits::KEEP_SEGMENTS;

pub use alarms::Alarms;
pub use architecture::Architecture;
pub use encryption::Encryption;
pub use error::{ConfigError, ConfigProblem, SourcePosition, TagFault, UnknownField};
pub use feed::FeedScope;
pub use oidc::IssuerFault;
pub use origin::OriginFault;
pub use snapshots::Snapshots;
pub use stages::Stage;
pub use webhook::Webhook;

/// The whole configuration. Build it with [`Config::parse`] or [`Config::default`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Name of the CloudFormation stack; default `cellar`.
    pub stack: String,
    /// AWS region; absent means the region of the AWS credentials in use.
    pub region: Option<String>,
    /// Processor of the functions; absent, or `host` in the file, means that of the machine that
    /// builds them.
    #[serde(with = "architecture")]
    pub architecture: Option<Architecture>,
    /// Which tokens the API accepts.
    pub tokens: Tokens,
    /// Web origins whose pages may call the API; empty means none, and no CORS answers at all.
    pub cors_origins: Vec<String>,
    /// Size of the function that serves the API.
    pub api: Api,
    /// When snapshots are made and log segments end.
    pub snapshots: Snapshots,
    /// Days that CloudWatch keeps log lines; default 30.
    pub log_retention_days: u32,
    /// Days after its end from which a log segment is offloaded and purged by `synth offload`; absent
    /// means that everything is kept.
    pub offload_after_days: Option<u32>,
    /// Newest log segments of each spreadsheet that are never offloaded; default 2.
    pub keep_segments: u32,
    /// What is in the feed: every change of the catalog, or the entries of spreadsheets' logs, too; default
    /// `catalog`.
    pub feed: FeedScope,
    /// A URL that the feed is delivered to; absent means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// How often the tables were restored to a point in time, which gives the stack other tables and
    /// every log a new incarnation; default 0, at most [`INCARNATION_MAX`](limits::INCARNATION_MAX). `synth restore`
    /// raises it; it means nothing to the local cloud.
    pub incarnation: u32,
    /// Whether the tables refuse to be deleted; default true.
    pub deletion_protection: bool,
    /// With which key data at rest is encrypted.
    pub encryption: Encryption,
    /// Who is told of alarms, and from when on use is too much.
    pub alarms: Alarms,
    /// Whether the stack has a dashboard in CloudWatch; default false. The first three of an
    /// account are free, each one more is $3 a month, whether anybody looks at it or not.
    pub dashboard: bool,
    /// Whether X-Ray traces calls of the functions; default false. The first 100,000 traces a month of
    /// an account are free, a million more are $5.
    pub tracing: bool,
    /// Tags of every resource that takes tags; default none.
    pub tags: BTreeMap<String, String>,
    /// Settings of the local cloud.
    pub local: Local,
    /// Several stacks of this configuration, each with what differs in it; default none. See
    /// [`Config::stage`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, Stage>,
}

/// Which tokens the API accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// The `iss` that a token must carry; default `cellar`.
    pub issuer: String,
    /// The `aud` that a token must carry; default `cellar`.
    pub audience: String,
    /// Public keys that verify tokens; several at once allow a rotation.
    pub keys: Vec<TokenKey>,
    /// `OpenID Connect` issuers whose tokens are accepted, too; default none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<OidcIssuer>,
    /// Tokens that were made before this moment, Unix seconds, are refused; absent means that none are for
    /// their age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_s: Option<u64>,
}

/// One public key that verifies tokens. Its JSON is what `CELLAR_TOKEN_KEYS` lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenKey {
    /// The `kid` in the header of the tokens that this key verifies.
    pub id: String,
    /// The 32 bytes of an Ed25519 public key in base64url without padding.
    pub public_key: String,
}

/// Size of the function that serves the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Api {
    /// Memory in MB, which also sets the share of the processor; default 512.
    pub memory_mb: u32,
    /// Seconds after which a request is cut off; default 29.
    pub timeout_s: u32,
}

/// Settings of the local cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Local {
    /// Port on 127.0.0.1; default 8480.
    pub port: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            stack: "cellar".to_owned(),
            region: None,
            architecture: None,
            tokens: Tokens::default(),
            cors_origins: Vec::new(),
            api: Api::default(),
            snapshots: Snapshots::default(),
            log_retention_days: 30,
            offload_after_days: None,
            keep_segments: *KEEP_SEGMENTS.start(),
            feed: FeedScope::Catalog,
            webhook: None,
            incarnation: 0,
            deletion_protection: true,
            encryption: Encryption::default(),
            alarms: Alarms::default(),
            dashboard: false,
            tracing: false,
            tags: BTreeMap::new(),
            local: Local::default(),
            stages: BTreeMap::new(),
        }
    }
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            issuer: "cellar".to_owned(),
            audience: "cellar".to_owned(),
            keys: Vec::new(),
            oidc: Vec::new(),
            not_before_s: None,
        }
    }
}

impl Tokens {
    /// The public keys as the function reads them: compact JSON.
    pub(crate) fn keys_json(&self) -> String {
        serde_json::json!(self.keys).to_string()
    }

    /// The other issuers as the function reads them: compact JSON.
    pub(crate) fn oidc_json(&self) -> String {
        serde_json::json!(self.oidc).to_string()
    }
}

impl Default for Api {
    fn default() -> Self {
        Self { memory_mb: 512, timeout_s: 29 }
    }
}

impl Default for Local {
    fn default() -> Self {
        Self { port: 8480 }
    }
}

impl Config {
    /// The configured architecture, else `host`: the one that a plain build produces.
    pub fn architecture_or(&self, host: Architecture) -> Architecture {
        self.architecture.unwrap_or(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_decides_only_where_nothing_is_configured() {
        let mut config = Config::default();
        assert_eq!(config.architecture_or(Architecture::Arm64), Architecture::Arm64);
        config.architecture = Some(Architecture::X86_64);
        assert_eq!(config.architecture_or(Architecture::Arm64), Architecture::X86_64);
    }
}
