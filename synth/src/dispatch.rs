//! Command dispatch: parses the command line, runs the command, and determines the exit code.

use std::process::ExitCode;

use cellar_local::Ports;
use clap::error::ErrorKind;

use crate::cli::{Arguments, Command, Output};
use crate::commands::{
    bundle, ci, cost, deploy, destroy, diff, drift, feed, init, local_cloud, logs, offload, plan,
    purge, reprocess, restore, runbook, smoke, status, template, token, webhook,
};
use crate::error::SynthError;
use crate::project::ConfigSelection;

/// Exit code if a comparison finds differences.
const DIFFERENCES: u8 = 2;
/// Exit code for invalid arguments.
const INVALID_USAGE: u8 = 64;

/// Returns the command-line definition, the source of the generated reference page.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::grouped()
}

/// Runs `synth` with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    main_with(Ports::default())
}

/// Like [`main`], but with custom `ports` (clock, randomness and other dependencies) for a local
/// stack. Intended for tests.
#[must_use]
pub fn main_with(ports: Ports) -> ExitCode {
    let arguments = match Arguments::parse_grouped() {
        Ok(arguments) => arguments,
        Err(error) => return print_usage(&error),
    };
    let output = Output::new(arguments.json);
    match run(arguments, &output, ports) {
        Ok(code) => code,
        Err(error) => {
            output.error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prints help or version to stdout, or a usage error to stderr (as JSON with `--json`).
fn print_usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Ignore the error: printing fails only if stdout is closed.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|argument| argument == "--json") {
        let text = error.to_string();
        let first_line = text.lines().next().unwrap_or_default();
        let message = first_line.strip_prefix("error: ").unwrap_or(first_line).to_owned();
        Output::new(true).error(&SynthError::Usage(message));
    } else {
        let _ = error.print();
    }
    ExitCode::from(INVALID_USAGE)
}

fn run(arguments: Arguments, output: &Output, ports: Ports) -> Result<ExitCode, SynthError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(SynthError::Process)?;
    // An empty environment variable counts as unset.
    let stage = arguments.stage.as_deref().filter(|stage| !stage.is_empty());
    let config = ConfigSelection { file: arguments.config.as_deref(), stage };
    let result = runtime.block_on(dispatch(arguments.command, config, output, ports));
    if matches!(result, Err(SynthError::Interrupted { .. })) {
        // Do not wait for the runtime, because a confirmation prompt may still block a thread on
        // stdin.
        runtime.shutdown_background();
    }
    result
}

async fn dispatch(
    command: Command,
    config: ConfigSelection<'_>,
    output: &Output,
    ports: Ports,
) -> Result<ExitCode, SynthError> {
    match command {
        Command::Init(arguments) => init::run(config, &arguments, output).map(success),
        Command::Template(arguments) => template::run(config, &arguments, output).map(success),
        Command::Runbook(arguments) => runbook::run(config, &arguments, output).map(success),
        Command::Bundle(arguments) => bundle::run(config, &arguments, output).map(success),
        Command::Ci(arguments) => ci::run(config, &arguments.command, output).map(success),
        Command::Token(arguments) => token::run(config, &arguments, output).map(success),
        Command::Diff(arguments) => diff::run(config, &arguments, output).await.map(compared),
        Command::Plan(arguments) => plan::run(config, &arguments, output).await.map(compared),
        Command::Deploy(arguments) => {
            let output = output.with_progress(arguments.progress);
            deploy::run(config, &arguments, &output, ports).await.map(success)
        }
        Command::Drift(arguments) => drift::run(config, &arguments, output).await.map(compared),
        Command::Status(arguments) => status::run(config, &arguments, output).await.map(success),
        Command::Logs(arguments) => logs::run(config, &arguments, output).await.map(success),
        Command::Cost(arguments) => cost::run(config, &arguments, output).await.map(success),
        Command::Smoke(arguments) => smoke::run(config, &arguments, output).await.map(success),
        Command::Offload(arguments) => offload::run(config, &arguments, output).await.map(success),
        Command::Purge(arguments) => purge::run(config, &arguments, output).await.map(success),
        Command::Reprocess(arguments) => {
            reprocess::run(config, &arguments, output).await.map(success)
        }
        Command::Feed(arguments) => {
            feed::run(config, &arguments.command, output).await.map(compared)
        }
        Command::Webhook(arguments) => {
            webhook::run(config, &arguments.command, output).await.map(compared)
        }
        Command::Restore(arguments) => restore::run(config, &arguments, output).await.map(success),
        Command::Destroy(arguments) => destroy::run(config, &arguments, output).await.map(success),
        Command::LocalCloud(arguments) => local_cloud::run(&arguments, ports).await.map(success),
    }
}

/// Returns the exit code of a successful command.
fn success((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

/// Returns the exit code of a comparison.
fn compared(differs: bool) -> ExitCode {
    if differs { ExitCode::from(DIFFERENCES) } else { ExitCode::SUCCESS }
}
