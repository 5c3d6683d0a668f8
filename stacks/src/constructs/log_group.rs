//! `AWS::Logs::LogGroup`.

use serde_json::{Map, Value};

use super::construct::{Construct, RemovalPolicy};
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// The log group of a function. If a function has no log group, Lambda creates one that never
/// deletes log lines, so their storage is billed forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGroup {
    retention_days: u32,
    kms_key: Option<String>,
}

impl LogGroup {
    /// Creates a log group that retains log lines for `retention_days`, which must be in
    /// [`LOG_RETENTION_DAYS`](crate::config::limits::LOG_RETENTION_DAYS).
    pub fn new(retention_days: u32) -> Self {
        Self { retention_days, kms_key: None }
    }

    /// Encrypts the log group with the KMS key that has this ARN. The key policy must allow
    /// CloudWatch Logs to use the key. If `None`, an AWS-owned key is used.
    #[must_use]
    pub fn encrypted_with(mut self, kms_key: Option<&str>) -> Self {
        self.kms_key = kms_key.map(str::to_owned);
        self
    }
}

impl Handle<LogGroup> {
    /// Returns the physical name of the log group.
    pub fn name(&self) -> Expression {
        self.reference()
    }

    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }
}

impl Construct for LogGroup {
    const TYPE: ResourceType = ResourceType::LogGroup;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set_option("KmsKeyId", self.kms_key)
            .set("RetentionInDays", self.retention_days)
            .into_map()
    }

    /// The logs are not needed after the stack has been deleted.
    fn removal_policy(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::Delete)
    }
}
