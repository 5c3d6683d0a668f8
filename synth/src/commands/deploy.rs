//! `synth deploy`: for now, the stack on this machine.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cellar::files::write_private;
use cellar::profile::Profile;
use cellar_core::access::Role;
use cellar_local::{Options, Running};
use cellar_runtime::token::KeyPair;
use cellar_stacks::Config;
use cellar_stacks::config::TokenKey;
use handlebars::Handlebars;
use serde::Serialize;

use super::template::synthesize;
use crate::cli::{DeployArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::{serve, start, start_detached};
use crate::project::Project;
use crate::smoke::{self, Target};
use crate::tokens::{Grant, mint, read_or_make_key};

const SUMMARY: &str = include_str!("../../../templates/local-summary.txt.hbs");
/// How long the token in the profile is valid.
const TOKEN_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What a deployment tells.
#[derive(Serialize)]
struct Summary<'a> {
    stack: &'a str,
    url: &'a str,
    token: &'a str,
    token_expires: String,
    profile: String,
    state: String,
    detached: bool,
}

/// Deploys.
pub(crate) async fn run(
    config: Option<&Path>,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if !arguments.local {
        return Err(SynthError::NotYet {
            what: "deploying to AWS",
            help: "`synth deploy --local` runs the same template on this machine; \
                   `synth template` shows it",
        });
    }
    let mut project = Project::find(config)?;
    let pair = read_or_make_key(&project.local_key())?;
    let public = pair.public();
    let key = TokenKey { id: public.id, public_key: public.public_key };
    if !project.config.tokens.keys.contains(&key) {
        project.config.tokens.keys.push(key);
    }
    let step = output.step("Synthesize the template");
    let template = synthesize(&project.config)?.to_json();
    step.done(&format!("{} KB", template.len().div_ceil(1_024)));
    let already = running_with(&project, &template)?;
    if already.is_none() {
        write_private(&project.local_template(), template.as_bytes())?;
    }
    if arguments.detach || already.is_some() {
        let running = match already {
            Some(running) => running,
            None => detach(&project, arguments, output).await?,
        };
        return finish(&project, &pair, &running.url, true, arguments, output).await;
    }
    foreground(&project, &pair, arguments, output).await
}

/// The local cloud that runs already, if it runs this template.
fn running_with(project: &Project, template: &str) -> Result<Option<Running>, SynthError> {
    let Some(running) = project.local_state().running()? else { return Ok(None) };
    match fs::read_to_string(project.local_template()) {
        Ok(text) if text == template => Ok(Some(running)),
        _ => Err(SynthError::OtherTemplate { url: running.url }),
    }
}

fn port(project: &Project, arguments: &DeployArguments) -> u16 {
    arguments.port.unwrap_or(project.config.local.port)
}

async fn detach(
    project: &Project,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<Running, SynthError> {
    let step = output.step("Start the local cloud in the background");
    let (folder, port) = (project.local_state(), port(project, arguments));
    let (template, log) = (project.local_template(), project.local_log());
    let started = start_detached(&template, &folder, &project.config.stack, port, &log).await;
    match started {
        Ok(running) => {
            step.done(&running.url);
            Ok(running)
        }
        Err(error) => {
            step.failed();
            Err(error)
        }
    }
}

async fn foreground(
    project: &Project,
    pair: &KeyPair,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Start the local cloud");
    let options = Options { stack: project.config.stack.clone(), port: port(project, arguments) };
    let started = start(&project.local_template(), &project.local_state(), &options).await;
    let cloud = match started {
        Ok(cloud) => cloud,
        Err(error) => {
            step.failed();
            return Err(error);
        }
    };
    let url = cloud.url().to_owned();
    step.done(&url);
    let server = tokio::spawn(serve(cloud));
    finish(project, pair, &url, false, arguments, output).await?;
    match server.await {
        Ok(served) => served,
        Err(error) => Err(SynthError::Process(std::io::Error::other(error))),
    }
}

/// Checks what runs, remembers how to reach it, and says what to do next.
async fn finish(
    project: &Project,
    pair: &KeyPair,
    url: &str,
    detached: bool,
    arguments: &DeployArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let grant = Grant {
        subject: std::env::var("USER")
            .ok()
            .filter(|user| !user.is_empty() && user.len() <= 64)
            .unwrap_or_else(|| "operator".to_owned()),
        spreadsheets: vec![],
        role: Role::Owner,
        lifetime: TOKEN_LIFETIME,
    };
    let (token, expires_s) = mint(pair, &project.config, grant)?;
    if !arguments.no_smoke {
        let step = output.step("Smoke test");
        let signer = Some((pair, &project.config));
        let report = smoke::run(&Target { url, token: &token, signer }).await;
        if let Err(error) = report.result() {
            step.failed();
            return Err(error);
        }
        step.done(&report.summary());
    }
    remember(project, url, &token)?;
    let expires = std::time::UNIX_EPOCH + Duration::from_secs(expires_s);
    let summary = Summary {
        stack: &project.config.stack,
        url,
        token: &token,
        token_expires: humantime::format_rfc3339_seconds(expires).to_string(),
        profile: Profile::path(&project.folder).display().to_string(),
        state: project.local_state().path().display().to_string(),
        detached,
    };
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let text = templates.render_template(SUMMARY, &summary)?;
    output.result(&summary, &text);
    Ok(())
}

/// The profile of this deployment; the current spreadsheet stays if it is of the same cloud.
fn remember(project: &Project, url: &str, token: &str) -> Result<(), SynthError> {
    let before = Profile::find(&project.folder)?.map(|(_, profile)| profile);
    let spreadsheet = before
        .filter(|before| before.stack.as_deref() == Some(&stack_name(&project.config)))
        .and_then(|before| before.spreadsheet);
    let profile = Profile {
        url: url.to_owned(),
        stack: Some(stack_name(&project.config)),
        token: Some(token.to_owned()),
        spreadsheet,
    };
    Ok(profile.save(&project.folder)?)
}

fn stack_name(config: &Config) -> String {
    format!("{} (local)", config.stack)
}
