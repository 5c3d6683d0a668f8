//! `synth template`.

use cellar_stacks::template::Template;
use cellar_stacks::{Config, cellar_stack};
use serde_json::json;

use crate::bundle::Host;
use crate::cli::{Format, Output, TemplateArguments};
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{Named, Project};

/// Prints or writes the template.
pub(crate) fn run(
    config: Named<'_>,
    arguments: &TemplateArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let template = synthesize(&project.config)?;
    let text = match arguments.format {
        Format::Json => template.to_json(),
        Format::Yaml => template.to_yaml(),
    };
    let Some(path) = &arguments.output else {
        output.result(&template.to_value(), &text);
        return Ok(());
    };
    write_output(path, true, text.as_bytes())?;
    let written = json!({ "written": path, "bytes": text.len() });
    output.result(&written, &format!("Wrote {}", path.display()));
    Ok(())
}

/// The template of a configuration, for this machine's processor unless it names another.
pub(crate) fn synthesize(config: &Config) -> Result<Template, SynthError> {
    Ok(cellar_stack(config, config.architecture_or(Host::this().architecture()))?)
}
