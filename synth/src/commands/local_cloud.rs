//! The hidden command that runs the local stack in the background.

use std::io::Read as _;

use cellar_local::{Options, Ports, StateFolder};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::LocalCloudArguments;
use crate::error::SynthError;
use crate::local_cloud::{serve_until_stopped, start};

/// Reads a template from stdin and runs its stack until the process is stopped. Log lines are
/// written to stderr, which the parent process has redirected to the log file.
pub(crate) async fn run(arguments: &LocalCloudArguments, ports: Ports) -> Result<(), SynthError> {
    // A separate session keeps this process running when its terminal closes, and protects it from
    // Ctrl-C in the terminal. `setsid` fails only if the process already leads a session.
    let _ = rustix::process::setsid();
    // The embedded DynamoDB logs a warning for every failed condition. Failed conditions are normal
    // here, so the warnings are hidden.
    let levels =
        Targets::new().with_default(LevelFilter::INFO).with_target("dynoxide", LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(levels).init();
    let mut template = String::new();
    std::io::stdin().read_to_string(&mut template).map_err(SynthError::Process)?;
    let options = Options { stack: arguments.stack.clone(), port: arguments.port };
    let folder = StateFolder::new(&arguments.folder);
    serve_until_stopped(start(&template, &folder, &options, ports).await?).await;
    Ok(())
}
