//! What of a template bears on its cost.

use std::collections::BTreeMap;

use cellar_stacks::constructs::ResourceType;
use serde_json::Value;

/// Memory in MB of a function whose template names none.
const DEFAULT_MEMORY_MB: u64 = 128;

/// What calls the indexer for the entries of logs.
const ENTRY_SOURCE: &str = "IndexerEntrySource";

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its memory in MB.
    pub(crate) memory_mb: u64,
    /// Whether it runs on ARM.
    pub(crate) on_arm: bool,
}

/// What a stack is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its functions, by their logical ids.
    pub(crate) functions: BTreeMap<String, Function>,
    /// Its alarms.
    pub(crate) alarms: u64,
    /// Its dashboards.
    pub(crate) dashboards: u64,
    /// Queues from which functions are fed: they are asked all the time.
    pub(crate) polled_queues: u64,
    /// Whether the entries of logs are in the feed.
    pub(crate) feeds_entries: bool,
    /// Whether calls of its functions are traced.
    pub(crate) tracing: bool,
    /// Whether it uses a key of the customer's own.
    pub(crate) own_key: bool,
    /// Days that the logs are kept, the longest.
    pub(crate) log_days: u64,
}

impl Facts {
    /// Of a template.
    pub(crate) fn of(template: &Value) -> Self {
        let mut facts = Self::default();
        let resources = template.get("Resources").and_then(Value::as_object);
        for (logical_id, resource) in resources.into_iter().flatten() {
            let property = |pointer: &str| resource.pointer(&format!("/Properties/{pointer}"));
            let named = resource.get("Type").and_then(Value::as_str);
            let Some(resource_type) = named.and_then(ResourceType::named) else { continue };
            match resource_type {
                ResourceType::Function => {
                    let memory_mb = property("MemorySize").and_then(Value::as_u64);
                    let architecture = property("Architectures/0").and_then(Value::as_str);
                    let function = Function {
                        memory_mb: memory_mb.unwrap_or(DEFAULT_MEMORY_MB),
                        on_arm: architecture == Some("arm64"),
                    };
                    facts.functions.insert(logical_id.clone(), function);
                    let tracing = property("TracingConfig/Mode").and_then(Value::as_str);
                    facts.tracing |= tracing == Some("Active");
                }
                ResourceType::Alarm => facts.alarms += 1,
                ResourceType::Dashboard => facts.dashboards += 1,
                ResourceType::Table => {
                    facts.own_key |= property("SSESpecification/KMSMasterKeyId").is_some();
                }
                ResourceType::LogGroup => {
                    let days = property("RetentionInDays").and_then(Value::as_u64);
                    facts.log_days = facts.log_days.max(days.unwrap_or_default());
                }
                ResourceType::EventSourceMapping if logical_id == ENTRY_SOURCE => {
                    facts.feeds_entries = true;
                }
                // Only a stream is read from somewhere.
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
    fn they_are_read_from_our_own_template() {
        let mut config = Config::default();
        let facts = |config: &Config| {
            Facts::of(&cellar_stack(config, Architecture::Arm64).unwrap().to_value())
        };
        let plain = facts(&config);
        let memory = |id: &str| (plain.functions[id].memory_mb, plain.functions[id].on_arm);
        assert_eq!(memory("ApiFunction"), (512, true));
        assert_eq!(memory("RelayFunction"), (256, true));
        assert_eq!(memory("SnapshotFunction"), (1_769, true));
        assert_eq!((plain.alarms, plain.dashboards, plain.polled_queues), (10, 0, 1));
        assert_eq!((plain.own_key, plain.tracing, plain.log_days), (false, false, 30));
        (config.dashboard, config.tracing) = (true, true);
        let key = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
        config.encryption.kms_key_arn = Some(key.to_owned());
        let full = facts(&config);
        assert_eq!((full.dashboards, full.own_key, full.tracing), (1, true, true));
        assert_eq!(Facts::of(&Value::Null), Facts::default());
    }
}
