//! `synth smoke`: runs the smoke test against the URL of a stack.

use std::env;

use cellar::profile::{Profile, is_same_url};
use cellar_local::Occupancy;
use cellar_runtime::token::KeyPair;

use crate::cli::{Output, SmokeArguments, SmokeFormat};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};
use crate::smoke::{self, SmokeTarget, TokenSigner};
use crate::tokens::{operator_key, read_key};

pub(crate) async fn run_smoke_test(
    config_selection: ConfigSelection<'_>,
    arguments: &SmokeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config_selection)?;
    let profile = matching_profile(arguments)?;
    let profile_url = profile.as_ref().map(|profile| profile.url.clone());
    let profile_token = profile.as_ref().and_then(|profile| profile.token.clone());
    let Some(url) = arguments.url.clone().or(profile_url) else {
        return Err(SynthError::NotDeployed);
    };
    let Some(token) = arguments.token.clone().or(profile_token) else {
        return Err(SynthError::NoToken { url });
    };
    let key_pair = signing_key(&project, &url, profile.is_some())?;
    let target = SmokeTarget {
        url: &url,
        token: &token,
        signer: key_pair.as_ref().map(|key_pair| TokenSigner { key_pair, config: &project.config }),
        startup_timeout: arguments.wait,
    };
    let report = smoke::run_checks(&target).await;
    let formatted_report = match arguments.format {
        SmokeFormat::Text => report.to_text(),
        SmokeFormat::Junit => report.to_junit(&url)?,
    };
    output.print_result(&report, &formatted_report);
    report.to_result()
}

/// Returns `None` if `--url` selects another API, because the saved token must not be sent to
/// another API.
fn matching_profile(arguments: &SmokeArguments) -> Result<Option<Profile>, SynthError> {
    let here = env::current_dir().map_err(SynthError::Process)?;
    let url = arguments.url.as_deref();
    let token = arguments.token.as_deref();
    let Some((_, profile)) = Profile::for_command(&here, url, token)? else { return Ok(None) };
    let is_for_url = url.is_none_or(|url| is_same_url(&profile.url, url));
    Ok(if is_for_url { Some(profile) } else { None })
}

/// The running local stack has its own key pair, and the stack in the profile has the operator's
/// key pair.
fn signing_key(
    project: &Project,
    url: &str,
    has_profile: bool,
) -> Result<Option<KeyPair>, SynthError> {
    let is_local_stack = match project.local_state().occupancy()? {
        Occupancy::Running(running) => is_same_url(&running.url, url),
        Occupancy::Free | Occupancy::StartingOrStopping => false,
    };
    if is_local_stack {
        return Ok(read_key(&project.local_key()).ok());
    }
    if has_profile { operator_key(project) } else { Ok(None) }
}
