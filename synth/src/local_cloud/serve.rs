//! Runs a local cloud in this process.

use cellar_local::{LocalCloud, LocalError, Options, Ports, StateFolder};
use cellar_stacks::template::Template;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::SynthError;

/// Starts the template.
pub(crate) async fn start(
    template: &str,
    folder: &StateFolder,
    options: &Options,
    ports: Ports,
) -> Result<LocalCloud, SynthError> {
    let template = Template::from_json(template).map_err(|error| LocalError::Template {
        logical_id: "the template".to_owned(),
        why: error.to_string(),
    })?;
    Ok(LocalCloud::start_with(&template, folder, options, ports).await?)
}

/// Serves until somebody wants it to end; requests under way are answered first.
pub(crate) async fn serve(cloud: LocalCloud) {
    cloud.serve(shutdown_signal()).await;
}

/// Resolves at Ctrl-C or SIGTERM.
async fn shutdown_signal() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Without it Ctrl-C is what is left.
        drop(tokio::signal::ctrl_c().await);
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
