//! Synthesis of the CloudFormation template.

use cellar_stacks::template::Template;
use cellar_stacks::{Config, cellar_stack};

use crate::bundle::Host;
use crate::error::SynthError;

/// Synthesizes the CloudFormation template of a configuration. The function architecture defaults
/// to that of this machine.
pub(crate) fn synthesize(config: &Config) -> Result<Template, SynthError> {
    Ok(cellar_stack(config, config.architecture_or(Host::current().architecture()))?)
}
