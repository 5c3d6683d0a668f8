//! `synth template`: prints the CloudFormation template.

use serde_json::json;

use crate::cli::{Format, Output, TemplateArguments};
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

/// Prints the template, or writes it to a file.
pub(crate) fn run(
    config: ConfigSelection<'_>,
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
        output.print_result(&template.to_value(), &text);
        return Ok(());
    };
    write_output(path, true, text.as_bytes())?;
    let written = json!({ "written": path, "bytes": text.len() });
    output.print_result(&written, &format!("Wrote {}", path.display()));
    Ok(())
}
