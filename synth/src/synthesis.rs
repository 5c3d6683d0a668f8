//! Synthesis of the CloudFormation template.

use cellar_stacks::template::Template;
use cellar_stacks::{Config, cellar_stack};

use crate::bundle::Host;
use crate::error::SynthError;

/// By default, the functions have the architecture of this machine.
pub(crate) fn synthesize(config: &Config) -> Result<Template, SynthError> {
    Ok(cellar_stack(config, config.architecture_or(Host::current().architecture()))?)
}
