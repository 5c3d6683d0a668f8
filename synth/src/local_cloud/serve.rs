//! Runs the local stack in this process.

use cellar_local::{LocalCloud, LocalError, Options, Ports, StateFolder};
use cellar_stacks::template::Template;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::SynthError;

pub(crate) async fn start_local_cloud(
    template_text: &str,
    folder: &StateFolder,
    options: &Options,
    ports: Ports,
) -> Result<LocalCloud, SynthError> {
    let template = Template::from_json(template_text).map_err(|error| LocalError::Template {
        logical_id: "the template".to_owned(),
        why: error.to_string(),
    })?;
    Ok(LocalCloud::start_with(&template, folder, options, ports).await?)
}

/// In-flight requests are completed before the stack stops.
pub(crate) async fn serve_until_stopped(cloud: LocalCloud) {
    cloud.serve(shutdown_signal()).await;
}

async fn shutdown_signal() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // If the SIGTERM handler cannot be installed, only Ctrl-C stops the stack.
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
