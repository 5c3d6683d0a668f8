//! The fields of `cellar.yaml` and their defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_yaml::Mapping;

use super::alarms::Alarms;
use super::architecture::{self, Architecture};
use super::duration;
use super::encryption::Encryption;
use super::feed::FeedScope;
use super::limits::KEEP_SEGMENTS;
use super::snapshots::Snapshots;
use super::tokens::Tokens;
use super::webhook::Webhook;

/// A complete configuration, created by [`Config::parse`] or [`Config::default`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The name of the CloudFormation stack. Defaults to `cellar`.
    pub stack: String,
    /// The AWS region of the stack. Defaults to the region of the AWS profile.
    pub region: Option<String>,
    /// The CPU architecture of the functions. `None` means the architecture of the machine that
    /// builds the functions, and is written as `host` in the file.
    #[serde(with = "architecture")]
    pub architecture: Option<Architecture>,
    /// Tokens accepted by the API.
    pub tokens: Tokens,
    /// The web origins whose pages may call the API. If empty, the API sends no CORS headers.
    pub cors_origins: Vec<String>,
    pub api: Api,
    /// The thresholds for snapshots and log segments, and the memory and timeout of the snapshot
    /// function.
    pub snapshots: Snapshots,
    /// The number of days for which CloudWatch retains log lines. Defaults to 30.
    #[serde(rename = "log_retention", with = "duration::days")]
    pub log_retention_days: u32,
    /// The age in days at which `synth offload` moves a closed log segment to S3. If `None`, all
    /// segments stay in DynamoDB.
    #[serde(rename = "offload_after", with = "duration::optional_days")]
    pub offload_after_days: Option<u32>,
    /// The number of newest log segments of each spreadsheet that stay in DynamoDB regardless of
    /// their age. Defaults to 2.
    pub keep_segments: u32,
    /// The events that the feed contains: only catalog changes, or log appends too. Defaults to
    /// `catalog`.
    pub feed: FeedScope,
    /// Webhook that receives the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// The number of times that the tables were restored to a point in time. Defaults to 0. At most
    /// [`INCARNATION_MAX`](super::limits::INCARNATION_MAX).
    ///
    /// Each incarnation has its own tables. `synth restore` increments this number. The local stack
    /// ignores it.
    pub incarnation: u32,
    /// Whether the tables and the CloudFormation stack are protected from deletion. Defaults to true.
    pub deletion_protection: bool,
    /// Encryption at rest.
    pub encryption: Encryption,
    /// The recipients of alarms, and the thresholds of the usage alarms.
    pub alarms: Alarms,
    pub limits: Limits,
    /// Whether the stack has a CloudWatch dashboard. Defaults to false. An account's first three
    /// dashboards are free; each additional dashboard costs $3 a month.
    pub dashboard: bool,
    /// Whether X-Ray traces the functions. Defaults to false. An account's first 100,000 traces a
    /// month are free; each additional million costs $5.
    pub tracing: bool,
    /// The tags of all resources that accept tags. Defaults to none.
    pub tags: BTreeMap<String, String>,
    pub local: Local,
    /// The stages, by name. Each stage is a separate stack with its own overrides of this
    /// configuration. Defaults to none. See [`Config::stage`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, Stage>,
}

/// The fields in which a stage differs from the main configuration. [`Config::parse`] validates the
/// overrides of every stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stage(pub(super) Option<Mapping>);

impl Eq for Stage {}

/// Memory and timeout of the API function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Api {
    /// The function's memory in MB. Its CPU power is proportional to its memory. Defaults to 512.
    pub memory_mb: u32,
    /// The request timeout in seconds. Defaults to 29.
    #[serde(rename = "timeout", with = "duration::seconds")]
    pub timeout_s: u32,
}

/// Limits on usage, and thereby on its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The maximum number of write units per second that DynamoDB accepts for the Entry table. The
    /// API answers the requests beyond it with 503. If `None`, the throughput is not limited.
    pub write_units_per_second: Option<u32>,
}

/// Settings of the local stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Local {
    /// Port on 127.0.0.1. Defaults to 8480.
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
            limits: Limits::default(),
            dashboard: false,
            tracing: false,
            tags: BTreeMap::new(),
            local: Local::default(),
            stages: BTreeMap::new(),
        }
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
    /// Returns the configured architecture, or `host` if none is configured.
    pub fn architecture_or(&self, host: Architecture) -> Architecture {
        self.architecture.unwrap_or(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configured_architecture_overrides_the_host() {
        let mut config = Config::default();
        assert_eq!(config.architecture_or(Architecture::Arm64), Architecture::Arm64);
        config.architecture = Some(Architecture::X86_64);
        assert_eq!(config.architecture_or(Architecture::Arm64), Architecture::X86_64);
    }
}
