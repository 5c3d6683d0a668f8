//! `synth plan`: saves a deployment plan, which `synth deploy --plan` applies.

use std::path::Path;

use cellar::files::{FileError, StateFile, read_json, write_json};
use serde::Serialize;

use super::aws_deployment::{AwsDeployment, template_hash};
use super::diff::{check_severity, deployed_template_text};
use super::preview::{Confirmation, Preview, PreviewDetail};
use crate::aws::{ChangeSet, Drift};
use crate::cli::{Output, PlanArguments};
use crate::deployment::{PLAN_VERSION, Plan, StalePlan};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

#[derive(Serialize)]
struct PlanReport<'a> {
    changes: bool,
    severity: &'static str,
    file: Option<&'a Path>,
    plan: Option<&'a Plan>,
    /// Termination protection of the stack after the deployment. `None` if it does not change or
    /// if the stack is new.
    termination_protection: Option<bool>,
    /// Resources that were changed outside CloudFormation. The expected values are those of the
    /// new template.
    changed_by_hand: &'a [Drift],
}

/// Returns whether there are changes.
pub(crate) async fn save_plan(
    config_selection: ConfigSelection<'_>,
    arguments: &PlanArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let plan_file = std::path::absolute(&arguments.output).map_err(SynthError::Process)?;
    let project = Project::find(config_selection)?;
    let deployment =
        AwsDeployment::prepare(config_selection, project, &arguments.aws, output).await?;
    let mut desired = deployment.upload_artifacts().await?;
    desired.reverts_drift = !arguments.keep_drift;
    let preview = deployment.create_preview(desired).await?;
    match &preview.change_set {
        Some(change_set) => {
            deployment.print_preview(&preview, PreviewDetail::All);
            let plan =
                write_plan_or_discard(&deployment, &preview, change_set, arguments, &plan_file)
                    .await?;
            let report = PlanReport {
                changes: true,
                severity: preview.difference.severity.name(),
                file: Some(&plan_file),
                plan: Some(&plan),
                termination_protection: new_protection(&deployment, &preview),
                changed_by_hand: preview.manual_changes(),
            };
            print_plan(&report, arguments, output);
        }
        None => {
            deployment.print_protection_change(&preview);
            let severity = preview.difference.severity.name();
            let termination_protection = new_protection(&deployment, &preview);
            let report = PlanReport {
                changes: false,
                severity,
                file: None,
                plan: None,
                termination_protection,
                changed_by_hand: &[],
            };
            output.print_result(&report, "No changes: no plan was written.");
        }
    }
    let has_changes = preview.change_set.is_some();
    Ok(has_changes)
}

/// If the plan cannot be written, deletes the change set.
async fn write_plan_or_discard(
    deployment: &AwsDeployment<'_>,
    preview: &Preview,
    change_set: &ChangeSet,
    arguments: &PlanArguments,
    plan_file: &Path,
) -> Result<Plan, SynthError> {
    let result = write_plan(deployment, preview, change_set, arguments, plan_file).await;
    if result.is_err() {
        deployment.delete_change_set(preview).await?;
    }
    result
}

fn new_protection(deployment: &AwsDeployment<'_>, preview: &Preview) -> Option<bool> {
    let change = deployment.protection_change(preview.current_stack.as_ref()?)?;
    Some(change.turns_on())
}

fn print_plan(report: &PlanReport<'_>, arguments: &PlanArguments, output: &Output) {
    let shown_path = arguments.output.display();
    let text =
        format!("Saved the plan as {shown_path}. Apply it with: synth deploy --plan {shown_path}");
    output.print_result(report, &text);
}

async fn write_plan(
    deployment: &AwsDeployment<'_>,
    preview: &Preview,
    change_set: &ChangeSet,
    arguments: &PlanArguments,
    plan_file: &Path,
) -> Result<Plan, SynthError> {
    // The user confirms the changes later, when the plan is applied. Data loss, however, must
    // already be allowed now.
    deployment.ensure_approved(preview, Confirmation::Skip).await?;
    check_severity(preview.difference.severity, arguments.fail_on)?;
    let plan = Plan {
        version: PLAN_VERSION,
        stack: deployment.project.config.stack.clone(),
        stack_id: change_set.stack_id.clone(),
        change_set: change_set.id.clone(),
        basis: deployment.current_basis(preview.deployed_hash.as_deref()),
    };
    write_json(plan_file, &plan)?;
    Ok(plan)
}

pub(super) async fn read_valid_plan(
    deployment: &AwsDeployment<'_>,
    path: &Path,
) -> Result<Plan, SynthError> {
    let stale_plan = |cause| SynthError::StalePlan { path: path.to_owned(), cause };
    let plan = read_plan_file(path)?;
    let stack_name = &deployment.project.config.stack;
    let stack = deployment.aws.find_stack(stack_name).await?;
    let deployed_text = deployed_template_text(&deployment.aws, stack.as_ref()).await?;
    let deployed_hash = deployed_text.as_deref().map(template_hash);
    let current_basis = deployment.current_basis(deployed_hash.as_deref());
    plan.check_basis(stack_name, &current_basis).map_err(stale_plan)?;
    if !deployment.aws.is_executable(&plan.change_set).await? {
        return Err(stale_plan(StalePlan::ChangeSet));
    }
    Ok(plan)
}

fn read_plan_file(path: &Path) -> Result<Plan, SynthError> {
    match read_json(path, StateFile::Other) {
        Ok(Some(plan)) => Ok(plan),
        Ok(None) => Err(SynthError::NoPlan { path: path.to_owned() }),
        Err(FileError::Malformed { path, why, .. }) => Err(SynthError::InvalidPlan { path, why }),
        Err(error) => Err(error.into()),
    }
}
