//! `synth status`: the stack on this machine; `status_aws` is the one in AWS.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar_local::{Occupancy, Running};
use serde::Serialize;

use super::status_aws;
use super::watched::Place;
use crate::cli::{Output, StatusArguments};
use crate::error::SynthError;
use crate::project::{Named, Project};

#[derive(Serialize)]
struct Status<'a> {
    stack: Option<String>,
    state: &'a Path,
    database_bytes: Option<u64>,
    busy: bool,
    running: Option<Running>,
    healthy: Option<bool>,
}

/// Shows what runs: here, or in AWS.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &StatusArguments,
    output: &Output,
) -> Result<(), SynthError> {
    match Place::of(config, &arguments.place)? {
        Place::Local => local(config, output).await,
        Place::Aws => {
            let endpoint_url = arguments.place.endpoint_url.as_deref();
            Box::pin(status_aws::run(config, endpoint_url, output)).await
        }
    }
}

/// Shows the local cloud: whether it runs, where, and whether it answers.
async fn local(config: Named<'_>, output: &Output) -> Result<(), SynthError> {
    let folder = Project::find_folder(config)?.local_state();
    let occupancy = folder.occupancy()?;
    let busy = occupancy == Occupancy::Unknown;
    let running = match occupancy {
        Occupancy::By(running) => Some(running),
        Occupancy::Free | Occupancy::Unknown => None,
    };
    let healthy = match &running {
        Some(running) => {
            let health = Client::new(&running.url, None)?.health().await;
            Some(health.is_ok_and(|health| health.ok))
        }
        None => None,
    };
    let status = Status {
        stack: folder.stack()?,
        state: folder.path(),
        database_bytes: folder.database_bytes(),
        busy,
        running,
        healthy,
    };
    output.result(&status, &text(&status));
    Ok(())
}

fn text(status: &Status<'_>) -> String {
    let state = status.state.display();
    let size = status.database_bytes.map(|bytes| format!(" ({} KB)", bytes.div_ceil(1_024)));
    let size = size.unwrap_or_default();
    let Some(running) = &status.running else {
        let next = "Start it with `cargo run -p synth -- deploy --local`.";
        return match (status.busy, &status.stack) {
            (true, _) => format!("A local cloud starts or ends here, in {state}."),
            (false, Some(stack)) => {
                format!("{stack} is not running. Its data is in {state}{size}.\n{next}")
            }
            (false, None) => format!(
                "Nothing is deployed here.\n{next}\n`synth status --aws` looks for a stack in AWS."
            ),
        };
    };
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let up = Duration::from_secs(now_s.saturating_sub(running.started_s));
    let health = if status.healthy == Some(true) { "healthy" } else { "NOT answering" };
    format!(
        "{} runs at {} ({health})\n  process  {}, for {}\n  state    {state}{size}",
        status.stack.as_deref().unwrap_or("cellar"),
        running.url,
        running.pid,
        humantime::format_duration(up)
    )
}
