//! `synth diff`: shows what a deployment would change.

use cellar_stacks::difference::{Difference, Document, Severity};

use crate::aws::{Aws, StackState};
use crate::cli::{DiffArguments, DiffFormat, FailOn, Output};
use crate::deployment::{StackCondition, stack_condition};
use crate::difference::{OldTemplate, Report, markdown, text};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;
use crate::tokens::read_key;

/// Prints the difference to the new template, and returns whether the templates differ.
///
/// # Errors
/// Returns [`SynthError::TooSevere`], after printing the difference, if a change has at least the
/// severity of `--fail-on`.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &DiffArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let mut project = Project::find(config)?;
    let old = old_template(&mut project, arguments).await?;
    let new = Document::from(&synthesize(&project.config)?);
    let difference = Difference::between(old.document.as_ref(), &new)?;
    let report = Report::new(&project.config.stack, &old, &difference);
    let formatted = match arguments.format {
        DiffFormat::Text => text(&report, output.has_colours()),
        DiffFormat::Markdown => markdown(&report)?,
    };
    output.print_result(&report, &formatted);
    check_severity(difference.severity, arguments.fail_on)?;
    Ok(!difference.is_empty())
}

/// Checks the highest severity of the changes against `--fail-on`.
///
/// # Errors
/// Returns [`SynthError::TooSevere`] if `severity` is `fail_on` or higher.
pub(super) fn check_severity(
    severity: Severity,
    fail_on: Option<FailOn>,
) -> Result<(), SynthError> {
    match fail_on.map(Severity::from) {
        Some(limit) if severity >= limit => {
            Err(SynthError::TooSevere { severity: severity.name() })
        }
        _ => Ok(()),
    }
}

/// Reads the old template selected by the options. Defaults to the template deployed in AWS.
async fn old_template(
    project: &mut Project,
    arguments: &DiffArguments,
) -> Result<OldTemplate, SynthError> {
    if let Some(path) = &arguments.against {
        return OldTemplate::from_file(path);
    }
    if let Some(revision) = &arguments.against_revision {
        return OldTemplate::from_revision(project, revision);
    }
    if arguments.local {
        prepare_local_comparison(project)?;
        return OldTemplate::from_local_stack(project);
    }
    let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
    let state = aws.stack(&project.config.stack).await?;
    let (old, _) = deployed_template(&aws, &project.config.stack, state.as_ref()).await?;
    Ok(old)
}

/// Adjusts the configuration like `synth deploy --local`: adds the local signing key and sets the
/// first incarnation.
fn prepare_local_comparison(project: &mut Project) -> Result<(), SynthError> {
    project.use_local_incarnation();
    match read_key(&project.local_key()) {
        Ok(pair) => project.add_token_key(pair.public()),
        Err(SynthError::NoKey { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Reads the template deployed in AWS, both parsed and as text. The text is `None` if the stack
/// does not exist or consists only of change sets.
pub(super) async fn deployed_template(
    aws: &Aws,
    stack: &str,
    state: Option<&StackState>,
) -> Result<(OldTemplate, Option<String>), SynthError> {
    let text = match state {
        Some(state) if stack_condition(Some(&state.status)) != StackCondition::Missing => {
            Some(aws.template(&state.id).await?)
        }
        _ => None,
    };
    let name = format!("{stack} in {}", aws.place());
    Ok((OldTemplate::deployed(&name, text.as_deref())?, text))
}
