//! Helpers that all of the stack's functions share.

use cellar_api::environment;

use super::storage::Storage;
use super::suppressions;
use crate::config::{Architecture, Config};
use crate::constructs::{BundleLocation, Function, Handle, LogGroup, Role};
use crate::stack::{Stack, SynthesisError};

#[derive(Clone, Copy)]
pub(super) struct FunctionContext<'a> {
    pub(super) config: &'a Config,
    pub(super) architecture: Architecture,
    pub(super) storage: &'a Storage,
    pub(super) bundle: &'a BundleLocation,
}

impl FunctionContext<'_> {
    pub(super) fn create_function(
        &self,
        description: &str,
        role: &Handle<Role>,
        log_group: &Handle<LogGroup>,
    ) -> Function {
        Function::new(description, self.architecture, self.bundle.clone(), role, log_group)
            .traced(self.config.tracing)
    }
}

#[track_caller]
pub(super) fn add_log_group(
    stack: &mut Stack,
    logical_id: &str,
    config: &Config,
) -> Result<Handle<LogGroup>, SynthesisError> {
    let kms_key = config.encryption.key();
    let definition = LogGroup::new(config.log_retention_days).encrypted_with(kms_key);
    let log_group = stack.add(logical_id, definition)?;
    suppressions::suppress_log_group_rules(stack, &log_group, kms_key.is_some());
    Ok(log_group)
}

/// Sets the environment variable for the incarnation, which counts how often the tables were
/// restored. No-op if the tables were never restored.
pub(super) fn with_incarnation(function: Function, config: &Config) -> Function {
    if config.incarnation == 0 {
        return function;
    }
    function.environment(environment::INCARNATION, config.incarnation.to_string())
}
