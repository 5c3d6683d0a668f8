//! `synth smoke`.

use std::env;
use std::time::Duration;

use cellar::profile::{Profile, is_same_url};
use cellar_local::Occupancy;

use crate::cli::{Output, SmokeArguments, SmokeFormat};
use crate::error::SynthError;
use crate::project::{Named, Project};
use crate::smoke::{self, Target};
use crate::tokens::{own_key, read_key};

/// Checks a running stack from outside.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &SmokeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let here = env::current_dir().map_err(SynthError::Process)?;
    let (given_url, given_token) = (arguments.url.as_deref(), arguments.token.as_deref());
    let profile = Profile::for_command(&here, given_url, given_token)?.map(|(_, profile)| profile);
    // The token of the profile is for the profile's API and never sent to another.
    let profile = profile.filter(|profile| given_url.is_none_or(|url| is_same_url(&profile.url, url)));
    let from_profile = |field: fn(&Profile) -> Option<String>| profile.as_ref().and_then(field);
    let url = arguments.url.clone().or_else(|| from_profile(|profile| Some(profile.url.clone())));
    let token = arguments.token.clone().or_else(|| from_profile(|profile| profile.token.clone()));
    let Some(url) = url else {
        return Err(SynthError::NotDeployed);
    };
    let Some(token) = token else {
        return Err(SynthError::NoToken { url });
    };
    // The key of the local cloud signs only for the local cloud.
    let local = match project.local_state().occupancy()? {
        Occupancy::By(running) => is_same_url(&running.url, &url),
        Occupancy::Free | Occupancy::Unknown => false,
    };
    let pair = match (local, &profile) {
        (true, _) => read_key(&project.local_key()).ok(),
        // The operator's key signs for what was deployed from here.
        (false, Some(_)) => own_key(&project)?,
        (false, None) => None,
    };
    let signer = pair.as_ref().map(|pair| (pair, &project.config));
    let settle = Duration::from_secs(arguments.wait_seconds.into());
    let report = smoke::run(&Target { url: &url, token: &token, signer, settle }).await;
    let text = match arguments.format {
        SmokeFormat::Text => report.text(),
        SmokeFormat::Junit => report.junit(&url)?,
    };
    output.result(&report, &text);
    report.result()
}
