//! Facts about a template that determine the cost of its stack.

use std::collections::BTreeMap;

use cellar_api::environment;
use cellar_log::upkeep::LogPolicy;
use cellar_stacks::constructs::ResourceType;
use serde_json::Value;

const DEFAULT_MEMORY_MB: u64 = 128;

/// Logical id of the event source mapping that passes log entries to the indexer function.
const ENTRY_SOURCE: &str = "IndexerEntrySource";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) memory_mb: u64,
    pub(crate) is_arm: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StackFacts {
    /// Functions by logical id.
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) alarms: u64,
    pub(crate) dashboards: u64,
    pub(crate) polled_queues: u64,
    pub(crate) feeds_entries: bool,
    pub(crate) tracing: bool,
    pub(crate) has_kms_key: bool,
    /// Longest retention period of any log group, in days.
    pub(crate) log_days: u64,
    /// When snapshots are built, or `None` if they are disabled.
    pub(crate) log_policy: Option<LogPolicy>,
}

impl Function {
    fn from_resource(resource: &Value) -> Self {
        let memory_mb = property(resource, "MemorySize").and_then(Value::as_u64);
        let architecture = property(resource, "Architectures/0").and_then(Value::as_str);
        Self {
            memory_mb: memory_mb.unwrap_or(DEFAULT_MEMORY_MB),
            is_arm: architecture == Some("arm64"),
        }
    }
}

/// `path` is a JSON pointer without the leading slash.
fn property<'a>(resource: &'a Value, path: &str) -> Option<&'a Value> {
    resource.pointer(&format!("/Properties/{path}"))
}

/// Reads the thresholds that the API function gets as JSON in a variable.
fn log_policy(function: &Value) -> Option<LogPolicy> {
    let variables = property(function, "Environment/Variables")?;
    serde_json::from_str(variables.get(environment::UPKEEP)?.as_str()?).ok()
}

impl StackFacts {
    pub(crate) fn from_template(template: &Value) -> Self {
        let resources = template.get("Resources").and_then(Value::as_object);
        Self::from_resources(
            resources.into_iter().flatten().map(|(id, resource)| (id.as_str(), resource)),
        )
    }

    pub(crate) fn from_resources<'a>(
        resources: impl Iterator<Item = (&'a str, &'a Value)>,
    ) -> Self {
        let mut stack_facts = Self::default();
        for (logical_id, resource) in resources {
            let type_name = resource.get("Type").and_then(Value::as_str);
            if let Some(resource_type) = type_name.and_then(ResourceType::from_name) {
                stack_facts.add_resource(logical_id, resource_type, resource);
            }
        }
        stack_facts
    }

    fn add_resource(&mut self, logical_id: &str, resource_type: ResourceType, resource: &Value) {
        match resource_type {
            ResourceType::Function => {
                self.functions.insert(logical_id.to_owned(), Function::from_resource(resource));
                let tracing_mode = property(resource, "TracingConfig/Mode").and_then(Value::as_str);
                if tracing_mode == Some("Active") {
                    self.tracing = true;
                }
                if let Some(log_policy) = log_policy(resource) {
                    self.log_policy = Some(log_policy);
                }
            }
            ResourceType::Alarm => self.alarms += watched_metrics(resource),
            ResourceType::Dashboard => self.dashboards += 1,
            ResourceType::Table => {
                let kms_key = property(resource, "SSESpecification/KMSMasterKeyId");
                if kms_key.is_some() {
                    self.has_kms_key = true;
                }
            }
            ResourceType::LogGroup => {
                let retention_days = property(resource, "RetentionInDays").and_then(Value::as_u64);
                self.log_days = self.log_days.max(retention_days.unwrap_or_default());
            }
            ResourceType::EventSourceMapping if logical_id == ENTRY_SOURCE => {
                self.feeds_entries = true;
            }
            // An event source mapping reads from a stream if it has a starting position. A mapping
            // that reads from a queue does not have one.
            ResourceType::EventSourceMapping
                if property(resource, "StartingPosition").is_none() =>
            {
                self.polled_queues += 1;
            }
            _ => {}
        }
    }
}

/// CloudWatch bills each metric that an alarm watches, but no expression.
fn watched_metrics(alarm: &Value) -> u64 {
    let Some(metrics) = property(alarm, "Metrics").and_then(Value::as_array) else { return 1 };
    metrics.iter().filter(|metric| metric.get("MetricStat").is_some()).map(|_| 1).sum()
}

#[cfg(test)]
mod tests {
    use cellar_stacks::config::Architecture;
    use cellar_stacks::{Config, cellar_stack};

    use super::*;

    #[test]
    fn reads_the_facts_of_our_template() {
        let mut config = Config::default();
        let facts = |config: &Config| {
            StackFacts::from_template(
                &cellar_stack(config, Architecture::Arm64).unwrap().to_value(),
            )
        };
        let plain = facts(&config);
        let memory = |id: &str| (plain.functions[id].memory_mb, plain.functions[id].is_arm);
        assert_eq!(memory("ApiFunction"), (512, true));
        assert_eq!(memory("RelayFunction"), (256, true));
        assert_eq!(memory("SnapshotFunction"), (1_769, true));
        assert_eq!((plain.alarms, plain.dashboards, plain.polled_queues), (10, 0, 1));
        assert_eq!((plain.has_kms_key, plain.tracing, plain.log_days), (false, false, 30));
        assert_eq!(plain.log_policy, config.snapshots.log_policy());
        config.snapshots.enabled = false;
        assert_eq!(facts(&config).log_policy, None);
        config.snapshots.enabled = true;
        config.alarms.event_sources = true;
        assert_eq!(facts(&config).alarms, 14, "two alarms on two metrics each");
        (config.dashboard, config.tracing) = (true, true);
        let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        config.encryption.kms_key_arn = Some(key.to_owned());
        let full = facts(&config);
        assert_eq!((full.dashboards, full.has_kms_key, full.tracing), (1, true, true));
        assert_eq!(StackFacts::from_template(&Value::Null), StackFacts::default());
    }
}
