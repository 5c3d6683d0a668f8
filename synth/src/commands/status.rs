//! `synth status`: shows the local stack, or the stack in AWS with `status_aws`.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar_local::{Occupancy, Running};
use serde::Serialize;

use super::observed::StackLocation;
use super::status_aws;
use crate::cli::{Output, StatusArguments};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

/// Status of the local stack.
#[derive(Serialize)]
struct Status<'a> {
    /// Name of the deployed stack.
    stack: Option<String>,
    /// The state directory.
    state: &'a Path,
    database_bytes: Option<u64>,
    /// Whether another process is starting or stopping the stack.
    busy: bool,
    running: Option<Running>,
    healthy: Option<bool>,
}

/// Prints the status of the stack.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &StatusArguments,
    output: &Output,
) -> Result<(), SynthError> {
    match StackLocation::of(config, &arguments.place)? {
        StackLocation::Local => print_local_status(config, output).await,
        StackLocation::Aws => {
            let endpoint_url = arguments.place.endpoint_url.as_deref();
            Box::pin(status_aws::run(config, endpoint_url, output)).await
        }
    }
}

async fn print_local_status(
    config: ConfigSelection<'_>,
    output: &Output,
) -> Result<(), SynthError> {
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
    output.print_result(&status, &text(&status));
    Ok(())
}

fn text(status: &Status<'_>) -> String {
    let state = status.state.display();
    let size = match status.database_bytes {
        Some(bytes) => format!(" ({} KB)", bytes.div_ceil(1_024)),
        None => String::new(),
    };
    let Some(running) = &status.running else {
        let start_hint = "Start it with `cargo run -p synth -- deploy --local`.";
        return match (status.busy, &status.stack) {
            (true, _) => format!("A local stack is starting or stopping in {state}."),
            (false, Some(stack)) => {
                format!("{stack} is not running. Its data is in {state}{size}.\n{start_hint}")
            }
            (false, None) => format!(
                "No local stack is deployed here.\n{start_hint}\n`synth status --aws` shows the stack \
                 in AWS."
            ),
        };
    };
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let uptime = Duration::from_secs(now_s.saturating_sub(running.started_s));
    let health = if status.healthy == Some(true) { "healthy" } else { "NOT responding" };
    format!(
        "{} is running at {} ({health})\n  process  {}, for {}\n  state    {state}{size}",
        status.stack.as_deref().unwrap_or("cellar"),
        running.url,
        running.pid,
        humantime::format_duration(uptime)
    )
}
