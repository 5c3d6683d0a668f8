//! `synth deploy`: runs the stack on this machine, or deploys it to AWS with `deploy_aws`.

use std::fs;
use std::time::Duration;

use cellar_local::{Occupancy, Options, Ports, Running};
use cellar_runtime::token::KeyPair;

use super::deploy_aws;
use super::summary::{LocalSummary, finish_local_deployment, move_malformed_profile};
use crate::cli::{DeployArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::{serve_until_stopped, start, start_detached};
use crate::project::{ConfigSelection, Project};
use crate::smoke::{self, Target};
use crate::synthesis::synthesize;
use crate::tokens::{mint_for_operator, read_or_create_key};

/// A local deployment in progress.
struct LocalDeployment<'a> {
    project: Project,
    /// Token signing key pair of the local stack.
    key_pair: KeyPair,
    /// The template as JSON.
    template: String,
    arguments: &'a DeployArguments,
    output: &'a Output,
}

/// Process that runs the deployed local stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunMode {
    /// This process.
    Foreground,
    /// A background process started by this command.
    Background,
    /// A process started earlier.
    AlreadyRunning,
}

/// Deploys the stack to AWS, or runs it on this machine with `--local`.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &DeployArguments,
    output: &Output,
    ports: Ports,
) -> Result<(), SynthError> {
    if !arguments.local {
        return deploy_aws::run(config, arguments, output).await;
    }
    let mut project = Project::find(config)?;
    project.use_local_incarnation();
    let key_pair = read_or_create_key(&project.local_key())?;
    project.add_token_key(key_pair.public());
    move_malformed_profile(&project)?;
    let step = output.step("Synthesize the template");
    let template = synthesize(&project.config)?.to_json();
    step.succeed(&format!("{} KB", template.len().div_ceil(1_024)));
    let deployment = LocalDeployment { project, key_pair, template, arguments, output };
    match deployment.matching_running_stack()? {
        Some(running) => deployment.finish(&running.url, RunMode::AlreadyRunning).await,
        None if arguments.detach => deployment.run_in_background().await,
        None => deployment.run_in_foreground(ports).await,
    }
}

impl LocalDeployment<'_> {
    /// Returns the running local stack, whose name, template and port must match this deployment,
    /// or `None` if no local stack is running.
    ///
    /// # Errors
    /// Returns [`SynthError::OtherLocalStack`] if the settings of the running stack differ. Returns
    /// [`SynthError::Busy`] if another process is starting or stopping a stack.
    fn matching_running_stack(&self) -> Result<Option<Running>, SynthError> {
        let folder = self.project.local_state();
        let running = match folder.occupancy()? {
            Occupancy::Free => return Ok(None),
            Occupancy::Unknown => return Err(SynthError::Busy),
            Occupancy::By(running) => running,
        };
        let differs = |setting| SynthError::OtherLocalStack { url: running.url.clone(), setting };
        if folder.stack()?.as_deref() != Some(&self.project.config.stack) {
            return Err(differs("stack name"));
        }
        if fs::read_to_string(folder.template()).ok().as_deref() != Some(&self.template) {
            return Err(differs("template"));
        }
        if let Some(port) = self.arguments.port
            && port != 0
            && !running.url.ends_with(&format!(":{port}/"))
        {
            return Err(differs("port"));
        }
        Ok(Some(running))
    }

    fn port(&self) -> u16 {
        self.arguments.port.unwrap_or(self.project.config.local.port)
    }

    async fn run_in_background(&self) -> Result<(), SynthError> {
        let step = self.output.step("Start the local stack in the background");
        let (folder, log) = (self.project.local_state(), self.project.local_log());
        let stack = &self.project.config.stack;
        let started = start_detached(&self.template, &folder, stack, self.port(), &log).await;
        let running = step.finish(started, |running| running.url.clone())?;
        self.finish(&running.url, RunMode::Background).await
    }

    async fn run_in_foreground(&self, ports: Ports) -> Result<(), SynthError> {
        let step = self.output.step("Start the local stack");
        let options = Options { stack: self.project.config.stack.clone(), port: self.port() };
        let started = start(&self.template, &self.project.local_state(), &options, ports).await;
        let cloud = step.finish(started, |cloud| cloud.url().to_owned())?;
        let url = cloud.url().to_owned();
        let server = tokio::spawn(serve_until_stopped(cloud));
        self.finish(&url, RunMode::Foreground).await?;
        server.await.map_err(|error| SynthError::Process(std::io::Error::other(error)))?;
        let state = self.project.local_state();
        self.output.note(&format!("Stopped. The data is kept in {}.", state.path().display()));
        Ok(())
    }

    /// Finishes a deployment: runs the smoke test, saves the profile, and prints the summary.
    async fn finish(&self, url: &str, mode: RunMode) -> Result<(), SynthError> {
        let config = &self.project.config;
        let (token, expires_s) = mint_for_operator(&self.key_pair, config)?;
        if !self.arguments.no_smoke {
            let signer = Some((&self.key_pair, config));
            let target = Target { url, token: &token, signer, startup_timeout: Duration::ZERO };
            smoke::run_with_progress(&target, self.output).await?;
        }
        let summary = LocalSummary {
            url,
            token: &token,
            expires_s,
            is_detached: mode != RunMode::Foreground,
            was_running: mode == RunMode::AlreadyRunning,
        };
        finish_local_deployment(&self.project, &summary, self.output)
    }
}
