//! The fields of `cellar.yaml` with their defaults.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_yaml::Mapping;

use super::alarms::Alarms;
use super::architecture::{self, Architecture};
use super::encryption::Encryption;
use super::feed::FeedScope;
use super::limits::KEEP_SEGMENTS;
use super::snapshots::Snapshots;
use super::tokens::Tokens;
use super::webhook::Webhook;

/// A complete configuration. Created by [`Config::parse`] or [`Config::default`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// CloudFormation stack name. Defaults to `cellar`.
    pub stack: String,
    /// AWS region. Defaults to the AWS profile's region.
    pub region: Option<String>,
    /// CPU architecture of the functions. `None` means the architecture of the build machine, and
    /// is written as `host` in the file.
    #[serde(with = "architecture")]
    pub architecture: Option<Architecture>,
    /// Tokens accepted by the API.
    pub tokens: Tokens,
    /// Web origins that may call the API from a browser. If empty, the API sends no CORS headers.
    pub cors_origins: Vec<String>,
    pub api: Api,
    /// Thresholds for snapshots and log segments, and the snapshot function's memory and timeout.
    pub snapshots: Snapshots,
    /// Number of days for which CloudWatch retains log lines. Defaults to 30.
    pub log_retention_days: u32,
    /// Age in days at which `synth offload` moves a closed log segment to S3. If `None`, segments
    /// stay in DynamoDB.
    pub offload_after_days: Option<u32>,
    /// Number of newest log segments per spreadsheet that stay in DynamoDB. Defaults to 2.
    pub keep_segments: u32,
    /// Events that are written to the feed: only catalog changes, or log appends too. Defaults to
    /// `catalog`.
    pub feed: FeedScope,
    /// Webhook that receives the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// Number of times that the tables were restored to a point in time, at most
    /// [`INCARNATION_MAX`](super::limits::INCARNATION_MAX). Defaults to 0. Each incarnation has its
    /// own tables. `synth restore` increments this number; the local stack ignores it.
    pub incarnation: u32,
    /// Whether the tables are protected against deletion. Defaults to true.
    pub deletion_protection: bool,
    /// Encryption at rest.
    pub encryption: Encryption,
    /// Alarm notifications and usage thresholds.
    pub alarms: Alarms,
    /// Whether the stack has a CloudWatch dashboard. Defaults to false. An account's first three
    /// dashboards are free; each additional dashboard costs $3 a month.
    pub dashboard: bool,
    /// Whether X-Ray traces the functions. Defaults to false. An account's first 100,000 traces a
    /// month are free; each additional million costs $5.
    pub tracing: bool,
    /// Tags of all taggable resources. Defaults to none.
    pub tags: BTreeMap<String, String>,
    pub local: Local,
    /// Stages, by name. With stages, one configuration describes several stacks, each with its own
    /// overrides. Defaults to none. See [`Config::stage`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, Stage>,
}

/// A stage's overrides: the fields that differ from the main configuration.
///
/// [`Config::parse`] validates the overrides of every stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stage(pub(super) Option<Mapping>);

impl Eq for Stage {}

/// Memory and timeout of the API function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Api {
    /// Memory in MB. CPU power is proportional to memory. Defaults to 512.
    pub memory_mb: u32,
    /// Request timeout in seconds. Defaults to 29.
    pub timeout_s: u32,
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
