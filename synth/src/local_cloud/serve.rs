//! Runs the local stack in this process.

use cellar_local::{LocalCloud, LocalError, Options, Ports, StateFolder};
use cellar_stacks::template::Template;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::SynthError;

/// Starts the stack of a template.
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

/// Serves requests until Ctrl-C or SIGTERM, then finishes the requests in progress.
pub(crate) async fn serve_until_stopped(cloud: LocalCloud) {
    cloud.serve(shutdown_signal()).await;
}

/// Resolves at Ctrl-C or SIGTERM.
async fn shutdown_signal() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Without a SIGTERM handler, only Ctrl-C stops the stack.
        drop(tokio::signal::ctrl_c().await);
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
