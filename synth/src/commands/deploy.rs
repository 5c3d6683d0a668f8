//! `synth deploy`: runs the stack on this machine. For AWS, `deploy_aws` deploys the stack.

use std::fs;
use std::time::Duration;

use cellar_local::{Occupancy, Options, Ports, RunningStack, StateFolder};
use cellar_runtime::token::KeyPair;

use super::aws_deployment::format_kilobytes;
use super::deploy_aws;
use super::summary::{LocalSummary, finish_local_deployment, move_malformed_profile};
use crate::cli::{DeployArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::{DetachedStack, serve_until_stopped, start_local_cloud};
use crate::project::{ConfigSelection, Project};
use crate::smoke::{self, SmokeTarget, TokenSigner};
use crate::synthesis::synthesize;
use crate::tokens::{mint_for_operator, read_or_create_key};

struct LocalDeployment<'a> {
    project: Project,
    key_pair: KeyPair,
    /// The template as JSON.
    template: String,
    arguments: &'a DeployArguments,
    output: &'a Output,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RunMode {
    Foreground,
    Background,
    AlreadyRunning,
}

pub(crate) async fn deploy_stack(
    config_selection: ConfigSelection<'_>,
    arguments: &DeployArguments,
    output: &Output,
    ports: Ports,
) -> Result<(), SynthError> {
    if !arguments.local {
        return deploy_aws::deploy_to_aws(config_selection, arguments, output).await;
    }
    let deployment = LocalDeployment::prepare(config_selection, arguments, output)?;
    match deployment.matching_running_stack()? {
        Some(running) => deployment.finish_deployment(&running.url, RunMode::AlreadyRunning).await,
        None if arguments.detach => deployment.run_in_background().await,
        None => deployment.run_in_foreground(ports).await,
    }
}

impl<'a> LocalDeployment<'a> {
    /// Creates the signing key pair unless it exists, and synthesizes the template.
    fn prepare(
        config_selection: ConfigSelection<'_>,
        arguments: &'a DeployArguments,
        output: &'a Output,
    ) -> Result<Self, SynthError> {
        let mut project = Project::find(config_selection)?;
        project.use_local_incarnation();
        let key_pair = read_or_create_key(&project.local_key())?;
        project.add_token_key(key_pair.public());
        move_malformed_profile(&project)?;
        let step = output.start_step("Synthesize the template");
        let template = synthesize(&project.config)?.to_json();
        step.succeed(&format_kilobytes(template.len()));
        Ok(Self { project, key_pair, template, arguments, output })
    }

    /// Returns the running local stack, or `None` if no local stack is running. The name, template
    /// and port of a running stack must match this deployment.
    ///
    /// # Errors
    /// Returns [`SynthError::OtherLocalStack`] if any of these settings differs. Returns
    /// [`SynthError::Busy`] if another process is starting or stopping a stack.
    fn matching_running_stack(&self) -> Result<Option<RunningStack>, SynthError> {
        let folder = self.project.local_state();
        let stack = match folder.occupancy()? {
            Occupancy::Free => return Ok(None),
            Occupancy::StartingOrStopping => return Err(SynthError::Busy),
            Occupancy::Running(stack) => stack,
        };
        match self.differing_setting(&folder, &stack)? {
            Some(setting) => Err(SynthError::OtherLocalStack { url: stack.url, setting }),
            None => Ok(Some(stack)),
        }
    }

    fn differing_setting(
        &self,
        folder: &StateFolder,
        running_stack: &RunningStack,
    ) -> Result<Option<&'static str>, SynthError> {
        if folder.stack()?.as_deref() != Some(&self.project.config.stack) {
            return Ok(Some("stack name"));
        }
        let running_template = fs::read_to_string(folder.template()).ok();
        if running_template.as_deref() != Some(&self.template) {
            return Ok(Some("template"));
        }
        if !self.allows_port_of(running_stack) {
            return Ok(Some("port"));
        }
        Ok(None)
    }

    /// Port 0 allows any port.
    fn allows_port_of(&self, running: &RunningStack) -> bool {
        match self.arguments.port {
            None | Some(0) => true,
            Some(port) => running.url.ends_with(&format!(":{port}")),
        }
    }

    fn port(&self) -> u16 {
        self.arguments.port.unwrap_or(self.project.config.local.port)
    }

    async fn run_in_background(&self) -> Result<(), SynthError> {
        let step = self.output.start_step("Start the local stack in the background");
        let detached_stack = DetachedStack {
            template: &self.template,
            folder: &self.project.local_state(),
            stack_name: &self.project.config.stack,
            port: self.port(),
            log_file: &self.project.local_log(),
        };
        let result = detached_stack.start().await;
        let running = step.finish(result, |started| started.url.clone())?;
        self.finish_deployment(&running.url, RunMode::Background).await
    }

    async fn run_in_foreground(&self, ports: Ports) -> Result<(), SynthError> {
        let step = self.output.start_step("Start the local stack");
        let options = Options { stack: self.project.config.stack.clone(), port: self.port() };
        let folder = self.project.local_state();
        let result = start_local_cloud(&self.template, &folder, &options, ports).await;
        let cloud = step.finish(result, |started| started.url().to_owned())?;
        let url = cloud.url().to_owned();
        let server = tokio::spawn(serve_until_stopped(cloud));
        self.finish_deployment(&url, RunMode::Foreground).await?;
        server.await.map_err(|error| SynthError::Process(std::io::Error::other(error)))?;
        self.output
            .print_note(&format!("Stopped. The data is kept in {}.", folder.path().display()));
        Ok(())
    }

    /// Finishes a deployment: runs the smoke test, saves the profile, and prints the summary.
    async fn finish_deployment(&self, url: &str, run_mode: RunMode) -> Result<(), SynthError> {
        let config = &self.project.config;
        let token = mint_for_operator(&self.key_pair, config)?;
        if !self.arguments.no_smoke {
            let target = SmokeTarget {
                url,
                token: &token.text,
                signer: Some(TokenSigner { key_pair: &self.key_pair, config }),
                startup_timeout: Duration::ZERO,
            };
            smoke::check_with_progress(&target, self.output).await?;
        }
        let summary = LocalSummary {
            url,
            token: &token,
            is_detached: run_mode != RunMode::Foreground,
            was_running: run_mode == RunMode::AlreadyRunning,
        };
        finish_local_deployment(&self.project, &summary, self.output)
    }
}
