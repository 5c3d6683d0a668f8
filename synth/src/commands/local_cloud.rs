//! The hidden command that runs a local cloud in the background.

use std::io::Read as _;

use cellar_local::{Options, Ports, StateFolder};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::LocalCloudArguments;
use crate::error::SynthError;
use crate::local_cloud::{serve, start};

/// Runs the template from stdin until it is told to end; what it has to say goes to the log that
/// its parent opened.
pub(crate) async fn run(arguments: &LocalCloudArguments, ports: Ports) -> Result<(), SynthError> {
    // A session of its own: it outlives the terminal, and Ctrl-C there is not for it. Fails only
    // for who leads a session already.
    let _ = rustix::process::setsid();
    // The embedded DynamoDB warns of every refused condition, which here is daily business.
    let levels =
        Targets::new().with_default(LevelFilter::INFO).with_target("dynoxide", LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(levels).init();
    let mut template = String::new();
    std::io::stdin().read_to_string(&mut template).map_err(SynthError::Process)?;
    let options = Options { stack: arguments.stack.clone(), port: arguments.port };
    let folder = StateFolder::new(&arguments.folder);
    serve(start(&template, &folder, &options, ports).await?).await;
    Ok(())
}
