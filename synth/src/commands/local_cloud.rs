//! `synth local-cloud`, a hidden command: runs the local stack in a background process.

use std::io::Read as _;

use cellar_local::{Options, Ports, StateFolder};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::LocalCloudArguments;
use crate::error::SynthError;
use crate::local_cloud::{serve_until_stopped, start_local_cloud};

/// Reads the template from stdin. Logs to stderr, which the parent process has redirected to the
/// log file.
pub(crate) async fn run_local_cloud(
    arguments: &LocalCloudArguments,
    ports: Ports,
) -> Result<(), SynthError> {
    // Start a new session, so that this process survives Ctrl-C in the terminal and closing the
    // terminal. `setsid` fails only if the process already leads a session.
    let _ = rustix::process::setsid();
    // Hide the warnings of the embedded DynamoDB about failed conditional writes. Such failures are
    // expected.
    let log_levels =
        Targets::new().with_default(LevelFilter::INFO).with_target("dynoxide", LevelFilter::ERROR);
    let log_lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(log_lines).with(log_levels).init();
    let mut template_text = String::new();
    std::io::stdin().read_to_string(&mut template_text).map_err(SynthError::Process)?;
    let options = Options { stack: arguments.stack.clone(), port: arguments.port };
    let folder = StateFolder::new(&arguments.folder);
    let cloud = start_local_cloud(&template_text, &folder, &options, ports).await?;
    serve_until_stopped(cloud).await;
    Ok(())
}
