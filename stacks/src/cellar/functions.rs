//! Settings shared by all functions of the stack.

use cellar_api::environment;

use super::suppressions;
use crate::config::Config;
use crate::constructs::{Function, Handle, LogGroup};
use crate::stack::{Stack, SynthesisError};

#[track_caller]
pub(super) fn add_log_group(
    stack: &mut Stack,
    id: &str,
    config: &Config,
) -> Result<Handle<LogGroup>, SynthesisError> {
    let key = config.encryption.key();
    let logs = LogGroup::new(config.log_retention_days).encrypted_with(key);
    let logs = stack.add(id, logs)?;
    suppressions::for_log_group(stack, &logs, key.is_some());
    Ok(logs)
}

/// Sets the environment variable for the table incarnation (number of restores). No-op if the
/// tables were never restored.
pub(super) fn in_incarnation(function: Function, config: &Config) -> Function {
    match config.incarnation {
        0 => function,
        incarnation => function.environment(environment::INCARNATION, incarnation.to_string()),
    }
}
