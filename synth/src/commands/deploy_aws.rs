//! `synth deploy` to AWS: uploads artifacts, creates a change set, prompts for confirmation,
//! executes the change set, and runs the smoke test.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use cellar_stacks::cellar::OUTPUT_API_URL;

use super::aws_deployment::AwsDeployment;
use super::interrupt::interruptible;
use super::plan::read_plan;
use super::preview::Detail;
use super::summary::{AwsSummary, finish_aws_deployment};
use crate::aws::{AwsError, StackState};
use crate::cli::{DeployArguments, Output};
use crate::deployment::DeploymentPhase;
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::smoke::{self, Target};
use crate::tokens::{mint_for_operator, operator_key};

/// Timeout for a new function URL to become reachable.
const URL_TIMEOUT: Duration = Duration::from_secs(90);

/// Deploys the stack to AWS or to an AWS emulator.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let phase = Cell::new(DeploymentPhase::Preparing);
    let project = Project::find(config)?;
    let stack = project.config.stack.clone();
    let preparation = AwsDeployment::prepare(config, project, &arguments.aws, output);
    interruptible(&stack, &phase, Box::pin(deploy(preparation, arguments, &phase))).await
}

async fn deploy<'a>(
    preparation: impl Future<Output = Result<AwsDeployment<'a>, SynthError>>,
    arguments: &DeployArguments,
    phase: &Cell<DeploymentPhase>,
) -> Result<(), SynthError> {
    let deployment = preparation.await?;
    let state = match &arguments.plan {
        Some(path) => deployment.apply_plan(path, phase).await?,
        None => deployment.change_stack(arguments.yes, phase).await?,
    };
    phase.set(DeploymentPhase::Checking);
    deployment.finish(&state, !arguments.no_smoke).await
}

impl AwsDeployment<'_> {
    /// Creates or updates the stack after confirmation, and returns its new state. No-op if nothing
    /// has changed.
    async fn change_stack(
        &self,
        yes: bool,
        phase: &Cell<DeploymentPhase>,
    ) -> Result<StackState, SynthError> {
        let preview = self.preview(self.upload().await?).await?;
        let Some(change_set) = &preview.change_set else {
            let missing = "the resources of a new stack";
            return preview.current.ok_or_else(|| AwsError::Reply { missing }.into());
        };
        self.show(&preview, Detail::Changes);
        if let Err(refused) = self.approve(&preview, yes).await {
            self.discard(&preview).await?;
            return Err(refused);
        }
        phase.set(DeploymentPhase::Changing);
        let result = self.follower().execute(&change_set.id, &change_set.stack_id).await;
        if let Err(SynthError::Aws(_)) = &result {
            // Delete the change set, whose execution did not start. Ignore deletion errors: the
            // first error is the root cause.
            let _ = self.discard(&preview).await;
        }
        result
    }

    /// Executes the change set of a saved plan and returns the new state of the stack.
    async fn apply_plan(
        &self,
        path: &Path,
        phase: &Cell<DeploymentPhase>,
    ) -> Result<StackState, SynthError> {
        let step = self.output.step("Read the plan");
        let plan = read_plan(self, path).await;
        let plan = step.finish(plan, |plan| plan.change_set.clone())?;
        phase.set(DeploymentPhase::Changing);
        self.follower().execute(&plan.change_set, &plan.stack_id).await
    }

    /// Finishes a deployment: runs the smoke test, saves the profile, and prints the summary.
    /// Without the operator's private key, no token can be signed and the smoke test is skipped.
    async fn finish(&self, state: &StackState, run_smoke_test: bool) -> Result<(), SynthError> {
        let Some(url) = state.outputs.get(OUTPUT_API_URL) else {
            return Err(SynthError::NoOutput { output: OUTPUT_API_URL });
        };
        let url = self.aws.reachable_url(url);
        let config = &self.project.config;
        let mut token = None;
        if let Some(key_pair) = operator_key(&self.project)? {
            let (text, expires_s) = mint_for_operator(&key_pair, config)?;
            if run_smoke_test {
                let signer = Some((&key_pair, config));
                let startup_timeout = URL_TIMEOUT;
                let target = Target { url: &url, token: &text, signer, startup_timeout };
                smoke::run_with_progress(&target, self.output).await?;
            }
            token = Some((text, expires_s));
        } else if run_smoke_test {
            self.output.note(
                "The smoke test was skipped, because it needs the private signing key of this stack. \
                 Run it with `synth smoke --url URL --token TOKEN`.",
            );
        }
        let summary = AwsSummary {
            url: &url,
            stack_id: &state.id,
            token: token.as_ref().map(|(text, expires_s)| (text.as_str(), *expires_s)),
            account: &self.aws.account,
            region: &self.aws.region,
        };
        finish_aws_deployment(&self.project, &summary, self.output)
    }
}
