//! `AWS::Logs::LogGroup`.

use serde_json::{Map, Value};

use super::properties::Properties;
use super::{Construct, RemovalPolicy, ResourceType};

/// The log group of one function. Each function has its own, made here: the one that Lambda
/// would make keeps its lines, and their price, for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGroup {
    retention_days: u32,
    key: Option<String>,
}

impl LogGroup {
    /// A log group that keeps its lines for that many days, one of
    /// [`LOG_RETENTION_DAYS`](crate::config::limits::LOG_RETENTION_DAYS).
    pub fn new(retention_days: u32) -> Self {
        Self { retention_days, key: None }
    }

    /// Encrypts it with a customer's key, by its ARN, whose policy has to allow that; without one,
    /// with a key of AWS.
    #[must_use]
    pub fn encrypted_with(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }
}

impl Construct for LogGroup {
    const TYPE: ResourceType = ResourceType::LogGroup;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set_option("KmsKeyId", self.key)
            .set("RetentionInDays", self.retention_days)
            .into_map()
    }

    /// Lines about a stack that is gone.
    fn removal(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::Delete)
    }
}
