//! `synth plan`: saves a deployment plan that `synth deploy --plan` applies.

use std::path::Path;

use cellar::files::{FileError, StateFile, read_json, write_json};
use serde::Serialize;

use super::aws_deployment::{AwsDeployment, DeployedTemplate};
use super::diff::{check_severity, deployed_template};
use super::preview::Detail;
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
}

/// Shows what a deployment would change, and saves the plan. Returns whether there are changes.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &PlanArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let file = std::path::absolute(&arguments.output).map_err(SynthError::Process)?;
    let project = Project::find(config)?;
    let deployment = AwsDeployment::prepare(config, project, &arguments.aws, output).await?;
    let preview = deployment.preview(deployment.upload().await?).await?;
    let severity = preview.difference.severity;
    let Some(change_set) = &preview.change_set else {
        let report =
            PlanReport { changes: false, severity: severity.name(), file: None, plan: None };
        output.print_result(&report, "No changes: no plan was written.");
        return Ok(false);
    };
    deployment.show(&preview, Detail::All);
    // Changes are confirmed when the plan is applied, but data loss must be allowed when the plan
    // is created.
    let approved = deployment.approve(&preview, true).await;
    if let Err(refused) = approved.and_then(|()| check_severity(severity, arguments.fail_on)) {
        deployment.discard(&preview).await?;
        return Err(refused);
    }
    let plan = Plan {
        version: PLAN_VERSION,
        stack: deployment.project.config.stack.clone(),
        stack_id: change_set.stack_id.clone(),
        change_set: change_set.id.clone(),
        basis: deployment.plan_basis(preview.deployed_hash.as_deref()),
    };
    if let Err(error) = write_json(&file, &plan) {
        deployment.discard(&preview).await?;
        return Err(error.into());
    }
    let (changes, severity) = (true, severity.name());
    let report = PlanReport { changes, severity, file: Some(&file), plan: Some(&plan) };
    let name = arguments.output.display();
    let text = format!("Saved the plan as {name}. Apply it with: synth deploy --plan {name}");
    output.print_result(&report, &text);
    Ok(true)
}

/// Reads a saved plan and checks that it is still valid.
///
/// # Errors
/// Returns [`SynthError::NoPlan`] if the file does not exist. Returns [`SynthError::StalePlan`] if
/// the plan is stale.
pub(super) async fn read_plan(
    deployment: &AwsDeployment<'_>,
    path: &Path,
) -> Result<Plan, SynthError> {
    let plan: Option<Plan> = read_json(path, StateFile::Other).map_err(|error| match error {
        FileError::Malformed { path, why, .. } => SynthError::InvalidPlan { path, why },
        error => error.into(),
    })?;
    let plan = plan.ok_or_else(|| SynthError::NoPlan { path: path.to_owned() })?;
    let stack = &deployment.project.config.stack;
    let stale = |cause| SynthError::StalePlan { path: path.to_owned(), cause };
    let state = deployment.aws.stack(stack).await?;
    let (_, text) = deployed_template(&deployment.aws, stack, state.as_ref()).await?;
    let deployed_hash = text.as_deref().map(DeployedTemplate::hash);
    let current = deployment.plan_basis(deployed_hash.as_deref());
    plan.check(stack, &current).map_err(stale)?;
    if !deployment.aws.can_be_executed(&plan.change_set).await? {
        return Err(stale(StalePlan::ChangeSet));
    }
    Ok(plan)
}
