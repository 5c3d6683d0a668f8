//! `synth template`: prints the CloudFormation template, or a picture of it.

use cellar_stacks::difference::Document;
use cellar_stacks::picture::draw_stack;
use serde_json::json;

use crate::cli::{Format, Output, TemplateArguments};
use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

pub(crate) fn print_template(
    config_selection: ConfigSelection<'_>,
    arguments: &TemplateArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config_selection)?;
    let template = synthesize(&project.config)?;
    let mut json_result = template.to_value();
    let formatted_template = match arguments.format {
        Format::Json => template.to_json(),
        Format::Yaml => template.to_yaml(),
        Format::Mermaid => {
            let picture = draw_stack(&Document::from(&template))?;
            json_result = json!({ "mermaid": picture });
            picture
        }
    };
    match &arguments.output {
        Some(path) => {
            write_output(path, IfExists::Replace, formatted_template.as_bytes())?;
            let result = json!({ "written": path, "bytes": formatted_template.len() });
            output.print_result(&result, &format!("Wrote {}", path.display()));
        }
        None => output.print_result(&json_result, &formatted_template),
    }
    Ok(())
}
