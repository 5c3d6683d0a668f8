//! `synth status`.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar::Client;
use cellar_local::{Running, StateFolder};
use serde::Serialize;

use crate::cli::Output;
use crate::error::SynthError;
use crate::project::Project;

#[derive(Serialize)]
struct Status<'a> {
    stack: &'a str,
    state: &'a Path,
    database_bytes: Option<u64>,
    running: Option<Running>,
    healthy: Option<bool>,
}

/// Shows the local cloud: whether it runs, where, and whether it answers.
pub(crate) async fn run(config: Option<&Path>, output: &Output) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let folder = project.local_state();
    let running = folder.running()?;
    let healthy = match &running {
        Some(running) => {
            Some(Client::new(&running.url, None)?.health().await.is_ok_and(|health| health.ok))
        }
        None => None,
    };
    let status = Status {
        stack: &project.config.stack,
        state: folder.path(),
        database_bytes: database_bytes(&folder),
        running,
        healthy,
    };
    output.result(&status, &text(&status, folder.exists()));
    Ok(())
}

fn database_bytes(folder: &StateFolder) -> Option<u64> {
    Some(folder.database().metadata().ok()?.len())
}

fn text(status: &Status<'_>, exists: bool) -> String {
    let state = status.state.display();
    let size = status.database_bytes.map(|bytes| format!(" ({} KB)", bytes.div_ceil(1_024)));
    let size = size.unwrap_or_default();
    let Some(running) = &status.running else {
        let next = "Start it with `cargo run -p synth -- deploy --local`.";
        return match exists {
            true => format!("Not running. Its data is in {state}{size}.\n{next}"),
            false => format!("Nothing is deployed here.\n{next}"),
        };
    };
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let up = Duration::from_secs(now_s.saturating_sub(running.started_s));
    let health = if status.healthy == Some(true) { "healthy" } else { "NOT answering" };
    format!(
        "{} runs at {} ({health})\n  process  {}, for {}\n  state    {state}{size}",
        status.stack,
        running.url,
        running.pid,
        humantime::format_duration(up)
    )
}
