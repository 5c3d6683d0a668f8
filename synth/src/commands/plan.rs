//! `synth plan`, and applying what it saved.

use std::path::Path;

use cellar::files::{read_json, write_json};
use serde::Serialize;

use super::diff::{check_severity, deployed};
use super::look::Detail;
use super::prepare::{Deployment, Template};
use crate::cli::{Output, PlanArguments};
use crate::deployment::{PLAN_VERSION, Plan, StalePlan};
use crate::error::SynthError;
use crate::project::{Named, Project};

/// What to do with a file that is no plan.
const ADVICE: &str = "`synth plan -o FILE` writes a new one";

#[derive(Serialize)]
struct Planned<'a> {
    changes: bool,
    severity: &'static str,
    file: Option<&'a Path>,
    plan: Option<&'a Plan>,
}

/// Shows what a deployment would do and saves it. Says whether there is anything to do.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &PlanArguments,
    output: &Output,
) -> Result<bool, SynthError> {
    let file = std::path::absolute(&arguments.output).map_err(SynthError::Process)?;
    let project = Project::find(config)?;
    let deployment = Deployment::begin(config, project, &arguments.aws, output).await?;
    let look = deployment.look(deployment.upload().await?).await?;
    let severity = look.difference.severity;
    let Some(change_set) = &look.change_set else {
        let none = Planned { changes: false, severity: severity.name(), file: None, plan: None };
        output.result(&none, "Nothing to change: no plan is written.");
        return Ok(false);
    };
    deployment.show(&look, Detail::All);
    // Whoever applies it says yes by that; data goes only if it was named here.
    let approved = deployment.approve(&look, true).await;
    if let Err(refused) = approved.and_then(|()| check_severity(severity, arguments.fail_on)) {
        deployment.discard(&look).await?;
        return Err(refused);
    }
    let plan = Plan {
        version: PLAN_VERSION,
        stack: deployment.project.config.stack.clone(),
        stack_id: change_set.stack_id.clone(),
        change_set: change_set.id.clone(),
        basis: deployment.basis(look.deployed.as_deref()),
    };
    if let Err(unwritten) = write_json(&file, &plan) {
        deployment.discard(&look).await?;
        return Err(unwritten.into());
    }
    let (changes, severity) = (true, severity.name());
    let planned = Planned { changes, severity, file: Some(&file), plan: Some(&plan) };
    let name = arguments.output.display();
    output.result(&planned, &format!("Saved as {name}. Apply it: synth deploy --plan {name}"));
    Ok(true)
}

/// Reads a plan, and makes sure that it still is about what is there.
pub(super) async fn read(deployment: &Deployment<'_>, path: &Path) -> Result<Plan, SynthError> {
    let plan: Option<Plan> = read_json(path, ADVICE)?;
    let plan = plan.ok_or_else(|| SynthError::NoPlan { path: path.to_owned() })?;
    let stack = &deployment.project.config.stack;
    let stale = |cause| SynthError::StalePlan { path: path.to_owned(), cause };
    let state = deployment.aws.stack(stack).await?;
    let (_, text) = deployed(&deployment.aws, stack, state.as_ref()).await?;
    let now = deployment.basis(text.as_deref().map(Template::hash).as_deref());
    plan.check(stack, &now).map_err(stale)?;
    match deployment.aws.can_be_executed(&plan.change_set).await? {
        true => Ok(plan),
        false => Err(stale(StalePlan::ChangeSet)),
    }
}
