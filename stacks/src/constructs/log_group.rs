//! `AWS::Logs::LogGroup`.

use serde_json::{Map, Value};

use super::properties::Properties;
use super::{Construct, ResourceType};

/// The log group of one function. Each function has its own, made here: the one that Lambda
/// would make keeps its lines, and their price, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogGroup {
    retention_days: u32,
}

impl LogGroup {
    /// A log group that keeps its lines for that many days, one of
    /// [`LOG_RETENTION_DAYS`](crate::config::limits::LOG_RETENTION_DAYS).
    pub fn new(retention_days: u32) -> Self {
        Self { retention_days }
    }
}

impl Construct for LogGroup {
    const TYPE: ResourceType = ResourceType::LogGroup;

    fn properties(self) -> Map<String, Value> {
        Properties::new().set("RetentionInDays", self.retention_days).into_map()
    }
}
