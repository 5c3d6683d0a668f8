//! Cost-relevant properties of a template.

use std::collections::BTreeMap;

use cellar_stacks::constructs::ResourceType;
use serde_json::Value;

/// Default function memory in MB.
const DEFAULT_MEMORY_MB: u64 = 128;

/// Logical id of the event source mapping between the log entries and the indexer function.
const ENTRY_SOURCE: &str = "IndexerEntrySource";

/// A Lambda function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    /// Memory in MB.
    pub(crate) memory_mb: u64,
    /// Whether the architecture is arm64.
    pub(crate) is_arm: bool,
}

/// Cost-relevant properties of a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StackFacts {
    /// Functions by logical id.
    pub(crate) functions: BTreeMap<String, Function>,
    /// Number of alarms.
    pub(crate) alarms: u64,
    /// Number of dashboards.
    pub(crate) dashboards: u64,
    /// Number of queues that Lambda polls.
    pub(crate) polled_queues: u64,
    /// Whether the feed contains an item for log entries.
    pub(crate) feeds_entries: bool,
    /// Whether function invocations are traced.
    pub(crate) tracing: bool,
    /// Whether the stack uses a customer-managed KMS key.
    pub(crate) has_kms_key: bool,
    /// Longest log group retention period, in days.
    pub(crate) log_days: u64,
}

impl StackFacts {
    /// Extracts the cost-relevant properties from a template.
    pub(crate) fn from_template(template: &Value) -> Self {
        let mut facts = Self::default();
        let resources = template.get("Resources").and_then(Value::as_object);
        for (logical_id, resource) in resources.into_iter().flatten() {
            let property = |pointer: &str| resource.pointer(&format!("/Properties/{pointer}"));
            let named = resource.get("Type").and_then(Value::as_str);
            let Some(resource_type) = named.and_then(ResourceType::from_name) else { continue };
            match resource_type {
                ResourceType::Function => {
                    let memory_mb = property("MemorySize").and_then(Value::as_u64);
                    let architecture = property("Architectures/0").and_then(Value::as_str);
                    let function = Function {
                        memory_mb: memory_mb.unwrap_or(DEFAULT_MEMORY_MB),
                        is_arm: architecture == Some("arm64"),
                    };
                    facts.functions.insert(logical_id.clone(), function);
                    let tracing = property("TracingConfig/Mode").and_then(Value::as_str);
                    facts.tracing |= tracing == Some("Active");
                }
                ResourceType::Alarm => facts.alarms += 1,
                ResourceType::Dashboard => facts.dashboards += 1,
                ResourceType::Table => {
                    facts.has_kms_key |= property("SSESpecification/KMSMasterKeyId").is_some();
                }
                ResourceType::LogGroup => {
                    let days = property("RetentionInDays").and_then(Value::as_u64);
                    facts.log_days = facts.log_days.max(days.unwrap_or_default());
                }
                ResourceType::EventSourceMapping if logical_id == ENTRY_SOURCE => {
                    facts.feeds_entries = true;
                }
                // Stream mappings have a starting position, queue mappings do not.
                ResourceType::EventSourceMapping if property("StartingPosition").is_none() => {
                    facts.polled_queues += 1;
                }
                _ => {}
            }
        }
        facts
    }
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
        (config.dashboard, config.tracing) = (true, true);
        let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        config.encryption.kms_key_arn = Some(key.to_owned());
        let full = facts(&config);
        assert_eq!((full.dashboards, full.has_kms_key, full.tracing), (1, true, true));
        assert_eq!(StackFacts::from_template(&Value::Null), StackFacts::default());
    }
}
