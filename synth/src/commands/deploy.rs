//! `synth deploy`: the stack on this machine; `deploy_aws` is the one in AWS.

use std::fs;
use std::time::Duration;

use cellar_local::{Occupancy, Options, Ports, Running};
use cellar_runtime::token::KeyPair;

use super::deploy_aws;
use super::remember::{self, Deployed};
use super::template::synthesize;
use crate::cli::{DeployArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::{serve, start, start_detached};
use crate::project::{Named, Project};
use crate::smoke::{self, Target};
use crate::tokens::{mint_for_operator, read_or_make_key};

/// One deployment on its way.
struct Deployment<'a> {
    project: Project,
    pair: KeyPair,
    template: String,
    arguments: &'a DeployArguments,
    output: &'a Output,
}

/// How the cloud runs that was deployed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Foreground,
    Background,
    Already,
}

/// Deploys.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &DeployArguments,
    output: &Output,
    ports: Ports,
) -> Result<(), SynthError> {
    if !arguments.local {
        return deploy_aws::run(config, arguments, output).await;
    }
    let mut project = Project::find(config)?;
    project.at_home();
    let pair = read_or_make_key(&project.local_key())?;
    project.accept(pair.public());
    remember::check_profile(&project)?;
    let step = output.step("Synthesize the template");
    let template = synthesize(&project.config)?.to_json();
    step.done(&format!("{} KB", template.len().div_ceil(1_024)));
    let deployment = Deployment { project, pair, template, arguments, output };
    match deployment.already_running()? {
        Some(running) => deployment.finish(&running.url, Mode::Already).await,
        None if arguments.detach => deployment.background().await,
        None => deployment.foreground(ports).await,
    }
}

impl Deployment<'_> {
    /// The local cloud that runs already, if it is the one that is asked for.
    fn already_running(&self) -> Result<Option<Running>, SynthError> {
        let folder = self.project.local_state();
        let running = match folder.occupancy()? {
            Occupancy::Free => return Ok(None),
            Occupancy::Unknown => return Err(SynthError::Busy),
            Occupancy::By(running) => running,
        };
        let other = |what| SynthError::OtherCloud { url: running.url.clone(), what };
        if folder.stack()?.as_deref() != Some(&self.project.config.stack) {
            return Err(other("stack name"));
        }
        if fs::read_to_string(folder.template()).ok().as_deref() != Some(&self.template) {
            return Err(other("template"));
        }
        let port = self.arguments.port.filter(|port| *port != 0);
        if port.is_some_and(|port| !running.url.ends_with(&format!(":{port}/"))) {
            return Err(other("port"));
        }
        Ok(Some(running))
    }

    fn port(&self) -> u16 {
        self.arguments.port.unwrap_or(self.project.config.local.port)
    }

    async fn background(&self) -> Result<(), SynthError> {
        let step = self.output.step("Start the local cloud in the background");
        let (folder, log) = (self.project.local_state(), self.project.local_log());
        let stack = &self.project.config.stack;
        let started = start_detached(&self.template, &folder, stack, self.port(), &log).await;
        let running = step.ended(started, |running| running.url.clone())?;
        self.finish(&running.url, Mode::Background).await
    }

    async fn foreground(&self, ports: Ports) -> Result<(), SynthError> {
        let step = self.output.step("Start the local cloud");
        let options = Options { stack: self.project.config.stack.clone(), port: self.port() };
        let started = start(&self.template, &self.project.local_state(), &options, ports).await;
        let cloud = step.ended(started, |cloud| cloud.url().to_owned())?;
        let url = cloud.url().to_owned();
        let server = tokio::spawn(serve(cloud));
        self.finish(&url, Mode::Foreground).await?;
        server.await.map_err(|error| SynthError::Process(std::io::Error::other(error)))?;
        let state = self.project.local_state();
        self.output.note(&format!("Ended. The data stays in {}.", state.path().display()));
        Ok(())
    }

    /// Checks what runs, remembers how to reach it, and says what to do next.
    async fn finish(&self, url: &str, mode: Mode) -> Result<(), SynthError> {
        let config = &self.project.config;
        let (token, expires_s) = mint_for_operator(&self.pair, config)?;
        if !self.arguments.no_smoke {
            let signer = Some((&self.pair, config));
            let target = Target { url, token: &token, signer, settle: Duration::ZERO };
            smoke::step(&target, self.output).await?;
        }
        let deployed = Deployed {
            url,
            token: &token,
            expires_s,
            detached: mode != Mode::Foreground,
            already: mode == Mode::Already,
        };
        remember::remember(&self.project, &deployed, self.output)
    }
}
