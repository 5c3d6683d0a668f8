//! `synth diff`.

use cellar_stacks::difference::{Difference, Document, Severity};

use super::template::synthesize;
use crate::aws::{Aws, StackState};
use crate::cli::{DiffArguments, DiffFormat, FailOn, Output};
use crate::deployment::{Ground, ground};
use crate::difference::{Old, Report, markdown, text};
use crate::error::SynthError;
use crate::project::{Named, Project};
use crate::tokens::read_key;

/// Shows what a deployment would change, and says whether it would change anything.
///
/// # Errors
/// [`SynthError::Grave`], once it has been shown, if it is as grave as `--fail-on` says.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &DiffArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let mut project = Project::find(config)?;
    let old = old_side(&mut project, arguments).await?;
    let new = Document::from(&synthesize(&project.config)?);
    let difference = Difference::between(old.document.as_ref(), &new)?;
    let report = Report::new(&project.config.stack, &old, &difference);
    let shown = match arguments.format {
        DiffFormat::Text => text(&report, output.has_colours()),
        DiffFormat::Markdown => markdown(&report)?,
    };
    output.result(&report, &shown);
    check_severity(difference.severity, arguments.fail_on)?;
    Ok(!difference.is_empty())
}

/// Whether a difference may be, by `--fail-on`.
///
/// # Errors
/// [`SynthError::Grave`], if it is as grave as that or graver.
pub(super) fn check_severity(
    severity: Severity,
    fail_on: Option<FailOn>,
) -> Result<(), SynthError> {
    match fail_on.map(Severity::from) {
        Some(bound) if severity >= bound => Err(SynthError::Grave { severity: severity.name() }),
        _ => Ok(()),
    }
}

async fn old_side(project: &mut Project, arguments: &DiffArguments) -> Result<Old, SynthError> {
    match (&arguments.against, &arguments.against_revision) {
        (Some(path), _) => Old::file(path),
        (None, Some(revision)) => Old::revision(project, revision),
        (None, None) if arguments.local => {
            project.at_home();
            // What is deployed there accepts the key of the local cloud.
            match read_key(&project.local_key()) {
                Ok(pair) => project.accept(pair.public()),
                Err(SynthError::NoKey { .. }) => {}
                Err(error) => return Err(error),
            }
            Old::local(project)
        }
        (None, None) => {
            let aws = Aws::connect(&project.config, arguments.endpoint_url.as_deref()).await?;
            let state = aws.stack(&project.config.stack).await?;
            Ok(deployed(&aws, &project.config.stack, state.as_ref()).await?.0)
        }
    }
}

/// What is deployed in AWS, and the text of its template. A stack that was only ever planned has none.
pub(super) async fn deployed(
    aws: &Aws,
    stack: &str,
    state: Option<&StackState>,
) -> Result<(Old, Option<String>), SynthError> {
    let state = state.filter(|state| ground(Some(&state.status)) != Ground::New);
    let text = match state {
        Some(state) => Some(aws.template(&state.id).await?),
        None => None,
    };
    let name = format!("{stack} in {}", aws.place());
    Ok((Old::deployed(&name, text.as_deref())?, text))
}
