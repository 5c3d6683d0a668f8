//! Helpers that all of the stack's functions share.

use cellar_api::environment;

use super::suppressions;
use crate::config::Config;
use crate::constructs::{Function, Handle, LogGroup};
use crate::stack::{Stack, SynthesisError};

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
