//! `synth deploy` into AWS: the bundle, a change set, a yes, the events, the smoke test.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use cellar_stacks::cellar::OUTPUT_API_URL;

use super::interrupt::{Stage, interruptible};
use super::look::Detail;
use super::plan;
use super::prepare::Deployment;
use super::remember::{self, DeployedToAws};
use crate::aws::{AwsError, StackState};
use crate::cli::{DeployArguments, Output};
use crate::error::SynthError;
use crate::project::{Named, Project};
use crate::smoke::{self, Target};
use crate::tokens::{mint_for_operator, own_key};

/// How long a new URL may take until it answers.
const SETTLES: Duration = Duration::from_secs(90);

/// Deploys into AWS, or into an emulator of it.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let stage = Cell::new(Stage::Before);
    let project = Project::find(config)?;
    let stack = project.config.stack.clone();
    let begin = Deployment::begin(config, project, &arguments.aws, output);
    interruptible(&stack, &stage, Box::pin(deploy(begin, arguments, &stage))).await
}

async fn deploy<'a>(
    begin: impl Future<Output = Result<Deployment<'a>, SynthError>>,
    arguments: &DeployArguments,
    stage: &Cell<Stage>,
) -> Result<(), SynthError> {
    let deployment = begin.await?;
    let state = match &arguments.plan {
        Some(path) => deployment.apply(path, stage).await?,
        None => deployment.change(arguments.yes, stage).await?,
    };
    stage.set(Stage::After);
    deployment.finish(&state, !arguments.no_smoke).await
}

impl Deployment<'_> {
    /// Changes the stack, if there is something to change and nobody is against it.
    async fn change(&self, yes: bool, stage: &Cell<Stage>) -> Result<StackState, SynthError> {
        let look = self.look(self.upload().await?).await?;
        let Some(change_set) = &look.change_set else {
            let missing = AwsError::Reply { missing: "what a new stack has" };
            return look.before.ok_or_else(|| missing.into());
        };
        self.show(&look, Detail::OfChanges);
        if let Err(refused) = self.approve(&look, yes).await {
            self.discard(&look).await?;
            return Err(refused);
        }
        stage.set(Stage::Changing);
        let done = self.execute(&change_set.id, &change_set.stack_id).await;
        // Refused before it began: why matters more than what is left of it.
        if let Err(SynthError::Aws(_)) = &done {
            let _ = self.discard(&look).await;
        }
        done
    }

    /// Does what a plan says.
    async fn apply(&self, path: &Path, stage: &Cell<Stage>) -> Result<StackState, SynthError> {
        let step = self.output.step("Read the plan");
        let plan = plan::read(self, path).await;
        let plan = step.ended(plan, |plan| plan.change_set.clone())?;
        stage.set(Stage::Changing);
        self.execute(&plan.change_set, &plan.stack_id).await
    }

    async fn execute(&self, change_set: &str, stack_id: &str) -> Result<StackState, SynthError> {
        self.follower().execute(change_set, stack_id).await
    }

    /// Checks what was deployed, remembers how to reach it, and says what to do next.
    async fn finish(&self, state: &StackState, with_smoke: bool) -> Result<(), SynthError> {
        let url = state.outputs.get(OUTPUT_API_URL);
        let url = url.ok_or(SynthError::NoOutput { output: OUTPUT_API_URL })?;
        let url = self.aws.reached_url(url);
        let pair = own_key(&self.project)?;
        let token = pair.as_ref().map(|pair| mint_for_operator(pair, &self.project.config));
        let token = token.transpose()?;
        match (&pair, &token) {
            (Some(pair), Some((token, _))) if with_smoke => {
                let signer = Some((pair, &self.project.config));
                let target = Target { url: &url, token, signer, settle: SETTLES };
                smoke::step(&target, self.output).await?;
            }
            (None, _) => self.output.note(
                "The smoke test needs a private key of this stack, and there is none here: \
                 `synth smoke --url URL --token TOKEN` runs it.",
            ),
            _ => {}
        }
        let deployed = DeployedToAws {
            url: &url,
            stack_id: &state.id,
            token: token.as_ref().map(|(token, expires_s)| (token.as_str(), *expires_s)),
            account: &self.aws.account,
            region: &self.aws.region,
        };
        remember::remember_aws(&self.project, &deployed, self.output)
    }
}
