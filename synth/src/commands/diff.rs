//! `synth diff`: shows what a deployment would change.

use cellar_stacks::cellar::StackPlace;
use cellar_stacks::difference::{Difference, Document, Severity};

use crate::aws::{Aws, AwsError, StackState};
use crate::cli::{DiffArguments, DiffFormat, FailOn, Output};
use crate::deployment::{StackCondition, stack_condition};
use crate::difference::{OldTemplate, Report, format_as_markdown, format_as_text};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;
use crate::tokens::read_key;

/// Returns whether the templates differ.
///
/// # Errors
///
/// Returns [`SynthError::TooSevere`] if any change has the severity of `--fail-on` or a higher one.
/// The changes are printed even then.
pub(crate) async fn show_difference(
    config_selection: ConfigSelection<'_>,
    arguments: &DiffArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let mut project = Project::find(config_selection)?;
    let mut old_template = read_old_template(&mut project, arguments).await?;
    let new_document = Document::from(&synthesize(&project.config)?);
    let mut difference = Difference::between(old_template.document.as_ref(), &new_document)?;
    let other_stack = describe_other_stack(old_template.document.as_ref(), &new_document);
    let is_other_stack = other_stack.is_some();
    if let Some(note) = other_stack {
        old_template.notes.insert(0, note);
        difference.severity = Severity::Destructive;
    }
    let mut report = Report::new(&project.config.stack, &old_template, &difference)
        .with_templates(&old_template, &new_document);
    report.is_other_stack = is_other_stack;
    let formatted_report = match arguments.format {
        DiffFormat::Text => format_as_text(&report, output.has_colours()),
        DiffFormat::Markdown => format_as_markdown(&report)?,
    };
    output.print_result(&report, &formatted_report);
    check_severity(difference.severity, arguments.fail_on)?;
    let has_differences = !difference.is_empty();
    Ok(has_differences)
}

/// Returns `None` if a deployment updates the same stack. Otherwise the new stack has no data, which
/// users see as a loss.
fn describe_other_stack(old: Option<&Document>, new: &Document) -> Option<String> {
    let place = |document: &Document| StackPlace::in_description(document.description()?);
    let (old, new) = (place(old?)?, place(new)?);
    if !old.is_another(&new) {
        return None;
    }
    Some(format!(
        "a deployment creates another stack, {new}, without spreadsheets. The stack {old} and its data \
         stay as they are. If GitHub Actions deploy the stack, run `synth ci init --force` in the \
         same pull request, with the other options of the first time, and then the commands that it \
         prints."
    ))
}

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

/// The default is the template deployed in AWS.
async fn read_old_template(
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
    let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await;
    let aws = aws.map_err(|cause| match cause {
        AwsError::NoRegion | AwsError::NoCredentials { .. } => SynthError::NoAwsToCompare { cause },
        cause => cause.into(),
    })?;
    let stack_name = &project.config.stack;
    let stack = aws.find_stack(stack_name).await?;
    let template_text = deployed_template_text(&aws, stack.as_ref()).await?;
    parse_deployed_template(&aws, stack_name, template_text.as_deref())
}

/// Adjusts the configuration as `synth deploy --local` does: adds the local signing key, and sets
/// the incarnation (restore counter) to its first value.
fn prepare_local_comparison(project: &mut Project) -> Result<(), SynthError> {
    project.use_local_incarnation();
    match read_key(&project.local_key()) {
        Ok(key_pair) => project.add_token_key(key_pair.public()),
        Err(SynthError::NoKey { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Returns `None` if the stack does not exist or consists only of change sets.
pub(super) async fn deployed_template_text(
    aws: &Aws,
    stack: Option<&StackState>,
) -> Result<Option<String>, SynthError> {
    match stack {
        Some(stack) if stack_condition(Some(&stack.status)) != StackCondition::Missing => {
            Ok(Some(aws.deployed_template(&stack.id).await?))
        }
        _ => Ok(None),
    }
}

pub(super) fn parse_deployed_template(
    aws: &Aws,
    stack_name: &str,
    template_text: Option<&str>,
) -> Result<OldTemplate, SynthError> {
    let description = format!("{stack_name} in {}", aws.account_and_region());
    OldTemplate::from_deployed(&description, template_text)
}
