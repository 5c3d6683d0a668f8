//! `synth status`: shows the local stack. For a stack in AWS, `status_aws` shows the status.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar::files::FileError;
use cellar::profile::Profile;
use cellar_local::{Occupancy, RunningStack};
use serde::Serialize;

use super::observed::StackLocation;
use super::status_aws;
use super::summary::page_link;
use crate::cli::{Output, StatusArguments};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

const BYTES_PER_KB: u64 = 1_024;

#[derive(Serialize)]
struct LocalStatus<'a> {
    stack: Option<String>,
    state: &'a Path,
    database_bytes: Option<u64>,
    /// Whether another process is starting or stopping the stack.
    busy: bool,
    running: Option<RunningStack>,
    /// Opens the page signed in. `None` if the profile has no token for the running stack.
    link: Option<String>,
    healthy: Option<bool>,
    /// `None` if it cannot be found out.
    disk_full: Option<bool>,
}

pub(crate) async fn show_status(
    config_selection: ConfigSelection<'_>,
    arguments: &StatusArguments,
    output: &Output,
) -> Result<(), SynthError> {
    match StackLocation::selected_by(config_selection, &arguments.location)? {
        StackLocation::Local => show_local_status(config_selection, output).await,
        StackLocation::Aws => {
            let endpoint_url = arguments.location.endpoint_url.as_deref();
            Box::pin(status_aws::show_aws_status(config_selection, endpoint_url, output)).await
        }
    }
}

async fn show_local_status(
    config_selection: ConfigSelection<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find_or_use_defaults(config_selection)?;
    let folder = project.local_state();
    let occupancy = folder.occupancy()?;
    let busy = occupancy == Occupancy::StartingOrStopping;
    let running = match occupancy {
        Occupancy::Running(running) => Some(running),
        Occupancy::Free | Occupancy::StartingOrStopping => None,
    };
    let healthy = match &running {
        Some(running) => Some(is_healthy(&running.url).await?),
        None => None,
    };
    let link = match &running {
        Some(running) => link_of_profile(&project, running)?,
        None => None,
    };
    let status = LocalStatus {
        stack: folder.stack()?,
        state: folder.path(),
        database_bytes: folder.database_bytes(),
        busy,
        running,
        link,
        healthy,
        disk_full: folder.is_disk_full(),
    };
    output.print_result(&status, &status.to_text());
    Ok(())
}

/// A malformed profile has no token.
fn link_of_profile(
    project: &Project,
    running: &RunningStack,
) -> Result<Option<String>, SynthError> {
    let profile = match Profile::read(&project.folder) {
        Err(FileError::Malformed { .. }) => None,
        profile => profile?,
    };
    let token = profile.filter(|profile| profile.url == running.url).and_then(|it| it.token);
    Ok(token.map(|token| page_link(&running.url, &token)))
}

pub(super) async fn is_healthy(url: &str) -> Result<bool, SynthError> {
    let health = Client::new(url, None)?.health().await;
    Ok(health.is_ok_and(|health| health.ok))
}

impl LocalStatus<'_> {
    fn to_text(&self) -> String {
        match &self.running {
            Some(running) => self.running_text(running),
            None => self.stopped_text(),
        }
    }

    fn stopped_text(&self) -> String {
        let start_hint = "Start it with `cargo run -p synth -- deploy --local`.";
        if self.busy {
            return format!("A local stack is starting or stopping in {}.", self.state.display());
        }
        match &self.stack {
            Some(stack_name) => format!(
                "{stack_name} is not running. Its data is in {}.{}\n{start_hint}",
                self.state_with_size(),
                self.disk_advice()
            ),
            None => format!(
                "No local stack is deployed here.\n{start_hint}\n`synth status --aws` shows the stack \
                 in AWS."
            ),
        }
    }

    fn running_text(&self, running: &RunningStack) -> String {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let uptime = Duration::from_secs(now_s.saturating_sub(running.started_s));
        let health = match (self.healthy, self.disk_full) {
            (Some(true), Some(true)) => "its DISK IS FULL",
            (Some(true), _) => "healthy",
            _ => "NOT responding",
        };
        let link = match &self.link {
            Some(link) => format!("Open this link in a browser:\n  {link}\n\n"),
            None => String::new(),
        };
        format!(
            "{link}{} is running at {} ({health})\n  process  {}, for {}\n  state    {}{}",
            self.stack.as_deref().unwrap_or("cellar"),
            running.url,
            running.pid,
            humantime::format_duration(uptime),
            self.state_with_size(),
            self.disk_advice()
        )
    }

    /// Edits are refused while the disk is full.
    fn disk_advice(&self) -> &'static str {
        match self.disk_full {
            Some(true) => {
                "\nThe disk is full: free some space. Until then, the stack can be read, and refuses edits."
            }
            Some(false) | None => "",
        }
    }

    fn state_with_size(&self) -> String {
        let state = self.state.display();
        match self.database_bytes {
            Some(bytes) => format!("{state} ({} KB)", bytes.div_ceil(BYTES_PER_KB)),
            None => state.to_string(),
        }
    }
}
