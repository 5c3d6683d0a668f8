//! `synth deploy` to AWS: uploads the bundle and the template, creates a change set, prompts for
//! confirmation, executes the change set, and runs the smoke test.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use cellar_runtime::token::KeyPair;
use cellar_stacks::cellar::OUTPUT_API_URL;

use super::aws_deployment::AwsDeployment;
use super::interrupt::run_interruptibly;
use super::plan::read_valid_plan;
use super::preview::{Confirmation, Preview, PreviewDetail};
use super::summary::{AwsSummary, finish_aws_deployment};
use crate::aws::{AwsError, ChangeSet, StackState};
use crate::cli::{DeployArguments, Output};
use crate::deployment::DeploymentPhase;
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::smoke::{self, SmokeTarget, TokenSigner};
use crate::tokens::{MintedToken, mint_for_operator, operator_key};

/// Time within which a new function URL must become reachable.
const URL_TIMEOUT: Duration = Duration::from_secs(90);

pub(crate) async fn deploy_to_aws(
    config_selection: ConfigSelection<'_>,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let phase = Cell::new(DeploymentPhase::Preparing);
    let project = Project::find(config_selection)?;
    let stack_name = project.config.stack.clone();
    let deployment = Box::pin(async {
        let prepared =
            AwsDeployment::prepare(config_selection, project, &arguments.aws, output).await?;
        prepared.deploy(arguments, &phase).await
    });
    run_interruptibly(&stack_name, &phase, deployment).await
}

impl AwsDeployment<'_> {
    /// Sets `phase` at the start of each phase.
    async fn deploy(
        &self,
        arguments: &DeployArguments,
        phase: &Cell<DeploymentPhase>,
    ) -> Result<(), SynthError> {
        let stack = match &arguments.plan {
            Some(path) => self.apply_plan(path, phase).await?,
            None if arguments.yes => self.change_stack(Confirmation::Skip, phase).await?,
            None => self.change_stack(Confirmation::Prompt, phase).await?,
        };
        phase.set(DeploymentPhase::Checking);
        self.apply_termination_protection(&stack).await;
        self.remove_stale_write_limit(&stack).await;
        self.finish_deployment(&stack, !arguments.no_smoke).await
    }

    /// Changes nothing if the stack is already up to date.
    async fn change_stack(
        &self,
        confirmation: Confirmation,
        phase: &Cell<DeploymentPhase>,
    ) -> Result<StackState, SynthError> {
        let preview = self.create_preview(self.upload_artifacts().await?).await?;
        match &preview.change_set {
            Some(change_set) => {
                self.execute_if_approved(&preview, change_set, confirmation, phase).await
            }
            None => {
                let missing = "the resources of a new stack";
                preview.current_stack.ok_or_else(|| AwsError::IncompleteReply { missing }.into())
            }
        }
    }

    /// If the change set is not executed, deletes it.
    async fn execute_if_approved(
        &self,
        preview: &Preview,
        change_set: &ChangeSet,
        confirmation: Confirmation,
        phase: &Cell<DeploymentPhase>,
    ) -> Result<StackState, SynthError> {
        self.print_preview(preview, PreviewDetail::Changes);
        if let Err(not_approved) = self.ensure_approved(preview, confirmation).await {
            self.delete_change_set(preview).await?;
            return Err(not_approved);
        }
        phase.set(DeploymentPhase::Changing);
        let result = self.follower().execute_change_set(&change_set.id, &change_set.stack_id).await;
        if let Err(SynthError::Aws(_)) = &result {
            // Delete the change set, which was not executed. Ignore deletion errors, because the
            // first error is the root cause.
            let _ = self.delete_change_set(preview).await;
        }
        result
    }

    async fn apply_plan(
        &self,
        path: &Path,
        phase: &Cell<DeploymentPhase>,
    ) -> Result<StackState, SynthError> {
        let step = self.output.start_step("Read the plan");
        let result = read_valid_plan(self, path).await;
        let plan = step.finish(result, |valid_plan| valid_plan.change_set.clone())?;
        phase.set(DeploymentPhase::Changing);
        self.follower().execute_change_set(&plan.change_set, &plan.stack_id).await
    }

    /// Finishes a deployment: runs the smoke test, saves the profile, and prints the summary. Skips
    /// the smoke test if the operator's private key is missing, because no token can be signed.
    async fn finish_deployment(
        &self,
        stack: &StackState,
        with_smoke_test: bool,
    ) -> Result<(), SynthError> {
        let Some(api_url) = stack.outputs.get(OUTPUT_API_URL) else {
            return Err(SynthError::NoOutput { output: OUTPUT_API_URL });
        };
        let url = self.aws.reachable_url(api_url);
        let mut token = None;
        if let Some(key_pair) = operator_key(&self.project)? {
            let operator_token = mint_for_operator(&key_pair, &self.project.config)?;
            if with_smoke_test {
                self.check_api(&url, &operator_token, &key_pair).await?;
            }
            token = Some(operator_token);
        } else if with_smoke_test {
            self.output.print_note(
                "The smoke test was skipped, because it needs the private signing key of this stack. \
                 Run it with `synth smoke --url URL --token TOKEN`.",
            );
        }
        let summary = AwsSummary {
            url: &url,
            stack_id: &stack.id,
            token: token.as_ref(),
            account: &self.aws.account,
            region: &self.aws.region,
        };
        finish_aws_deployment(&self.project, &summary, self.output)
    }

    async fn check_api(
        &self,
        url: &str,
        token: &MintedToken,
        key_pair: &KeyPair,
    ) -> Result<(), SynthError> {
        let target = SmokeTarget {
            url,
            token: &token.text,
            signer: Some(TokenSigner { key_pair, config: &self.project.config }),
            startup_timeout: URL_TIMEOUT,
        };
        smoke::check_with_progress(&target, self.output).await
    }
}
