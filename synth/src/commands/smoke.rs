//! `synth smoke`.

use std::env;
use std::path::Path;

use cellar::profile::Profile;

use crate::cli::{Output, SmokeArguments};
use crate::error::SynthError;
use crate::project::Project;
use crate::smoke::{self, Target};
use crate::tokens::read_key;

/// Checks a running stack from outside.
pub(crate) async fn run(
    config: Option<&Path>,
    arguments: &SmokeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let here = env::current_dir().map_err(SynthError::Process)?;
    let profile = Profile::find(&here)?.map(|(_, profile)| profile);
    let from_profile = |field: fn(&Profile) -> Option<String>| profile.as_ref().and_then(field);
    let url = arguments.url.clone().or_else(|| from_profile(|profile| Some(profile.url.clone())));
    let token = arguments.token.clone().or_else(|| from_profile(|profile| profile.token.clone()));
    let (Some(url), Some(token)) = (url, token) else {
        return Err(SynthError::NotDeployed);
    };
    // The key of the local cloud signs only for the local cloud.
    let running = project.local_state().running()?;
    let local = running.is_some_and(|running| running.url == url);
    let pair = if local { read_key(&project.local_key()).ok() } else { None };
    let signer = pair.as_ref().map(|pair| (pair, &project.config));
    let report = smoke::run(&Target { url: &url, token: &token, signer }).await;
    output.result(&report, &report.text());
    report.result()
}
