//! `synth diff`.

use std::path::Path;

use cellar_stacks::difference::{Difference, Document, Severity};

use super::template::synthesize;
use crate::cli::{DiffArguments, DiffFormat, Output};
use crate::difference::{Old, Report, markdown, text};
use crate::error::SynthError;
use crate::project::Project;
use crate::tokens::read_key;

/// Shows what a deployment would change, and says whether it would change anything.
///
/// # Errors
/// [`SynthError::Grave`], once it has been shown, if it is as grave as `--fail-on` says.
pub(crate) fn run(
    config: Option<&Path>,
    arguments: &DiffArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let mut project = Project::find(config)?;
    let old = old_side(&mut project, arguments)?;
    let new = Document::from(&synthesize(&project.config)?);
    let difference = Difference::between(old.document.as_ref(), &new)?;
    let report = Report::new(&project.config.stack, &old, &difference);
    let shown = match arguments.format {
        DiffFormat::Text => text(&report, output.has_colours()),
        DiffFormat::Markdown => markdown(&report)?,
    };
    output.result(&report, &shown);
    match arguments.fail_on.map(Severity::from) {
        Some(bound) if difference.severity >= bound => {
            Err(SynthError::Grave { severity: difference.severity.name() })
        }
        _ => Ok(!difference.is_empty()),
    }
}

fn old_side(project: &mut Project, arguments: &DiffArguments) -> Result<Old, SynthError> {
    match (&arguments.against, &arguments.against_revision) {
        (Some(path), _) => Old::file(path),
        (None, Some(revision)) => Old::revision(project, revision),
        (None, None) if arguments.local => {
            // What is deployed there accepts the key of the local cloud.
            match read_key(&project.local_key()) {
                Ok(pair) => project.accept(pair.public()),
                Err(SynthError::NoKey { .. }) => {}
                Err(error) => return Err(error),
            }
            Old::local(project)
        }
        (None, None) => Err(SynthError::NotYet {
            what: "comparing with a stack in AWS by itself",
            help: "`synth diff --local` compares with the stack on this machine; for one in AWS: \
                   aws cloudformation get-template --stack-name NAME --query TemplateBody \
                   | synth diff --against -",
        }),
    }
}
