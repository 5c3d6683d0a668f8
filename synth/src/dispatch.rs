//! Runs commands: parses the command line, runs the command, and determines the exit code.

use std::process::ExitCode;

use cellar_local::Ports;
use clap::error::ErrorKind;

use crate::cli::{Arguments, Command, Output};
use crate::commands::{
    bundle, ci, cost, deploy, destroy, diff, drift, feed, init, local_cloud, logs, offload, plan,
    purge, reprocess, restore, runbook, smoke, status, stop, template, token, webhook,
};
use crate::error::SynthError;
use crate::project::ConfigSelection;

/// Exit code if a comparison finds differences.
const DIFFERENCES: u8 = 2;
/// Exit code for invalid arguments.
const INVALID_USAGE: u8 = 64;

/// Returns the definition of the command line. The reference page is generated from this
/// definition.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::grouped()
}

/// Runs `synth` with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    main_with(Ports::default())
}

/// Like [`main`], but with custom `ports` for a local stack, such as another clock or random number
/// generator. Intended for tests.
#[must_use]
pub fn main_with(ports: Ports) -> ExitCode {
    let arguments = match Arguments::parse_grouped() {
        Ok(arguments) => arguments,
        Err(error) => return print_usage(&error),
    };
    let output = Output::new(arguments.json);
    match run_command(arguments, &output, ports) {
        Ok(code) => code,
        Err(error) => {
            output.print_error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Prints the help or the version to stdout, or a usage error to stderr. With `--json`, the usage
/// error is printed as JSON.
fn print_usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Ignore the error: printing fails only if stdout is closed.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|argument| argument == "--json") {
        let message = error.to_string();
        let first_line = message.lines().next().unwrap_or_default();
        let reason = first_line.strip_prefix("error: ").unwrap_or(first_line).to_owned();
        Output::new(true).print_error(&SynthError::Usage(reason));
    } else {
        let _ = error.print();
    }
    ExitCode::from(INVALID_USAGE)
}

fn run_command(
    arguments: Arguments,
    output: &Output,
    ports: Ports,
) -> Result<ExitCode, SynthError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(SynthError::Process)?;
    // An empty environment variable counts as unset.
    let stage = arguments.stage.as_deref().filter(|stage| !stage.is_empty());
    let config_selection = ConfigSelection { file: arguments.config.as_deref(), stage };
    let result = runtime.block_on(dispatch(arguments.command, config_selection, output, ports));
    if matches!(result, Err(SynthError::Interrupted { .. })) {
        // Do not wait for the runtime to stop, because a confirmation prompt may still block a
        // thread that reads stdin.
        runtime.shutdown_background();
    }
    result
}

async fn dispatch(
    command: Command,
    selection: ConfigSelection<'_>,
    output: &Output,
    ports: Ports,
) -> Result<ExitCode, SynthError> {
    match command {
        Command::Init(arguments) => init::write_config(selection, &arguments, output)?,
        Command::Template(arguments) => template::print_template(selection, &arguments, output)?,
        Command::Runbook(arguments) => runbook::write_runbook(selection, &arguments, output)?,
        Command::Bundle(arguments) => bundle::write_bundle(selection, &arguments, output)?,
        Command::Ci(arguments) => ci::run_ci_command(selection, &arguments.command, output)?,
        Command::Token(arguments) => token::run_token_command(selection, &arguments, output)?,
        Command::Diff(arguments) => {
            let has_differences = diff::show_difference(selection, &arguments, output).await?;
            return Ok(comparison_exit_code(has_differences));
        }
        Command::Plan(arguments) => {
            let has_differences = plan::save_plan(selection, &arguments, output).await?;
            return Ok(comparison_exit_code(has_differences));
        }
        Command::Deploy(arguments) => {
            let output = output.with_progress(arguments.progress);
            deploy::deploy_stack(selection, &arguments, &output, ports).await?;
        }
        Command::Drift(arguments) => {
            let has_differences = drift::show_drift(selection, &arguments, output).await?;
            return Ok(comparison_exit_code(has_differences));
        }
        Command::Status(arguments) => status::show_status(selection, &arguments, output).await?,
        Command::Logs(arguments) => logs::show_logs(selection, &arguments, output).await?,
        Command::Cost(arguments) => cost::show_cost(selection, &arguments, output).await?,
        Command::Smoke(arguments) => smoke::run_smoke_test(selection, &arguments, output).await?,
        Command::Offload(arguments) => {
            offload::offload_segments(selection, &arguments, output).await?;
        }
        Command::Purge(arguments) => {
            purge::purge_spreadsheets(selection, &arguments, output).await?;
        }
        Command::Reprocess(arguments) => {
            reprocess::reprocess_logs(selection, &arguments, output).await?;
        }
        Command::Feed(arguments) => {
            let has_differences =
                feed::run_feed_command(selection, &arguments.command, output).await?;
            return Ok(comparison_exit_code(has_differences));
        }
        Command::Webhook(arguments) => {
            let has_differences =
                webhook::run_webhook_command(selection, &arguments.command, output).await?;
            return Ok(comparison_exit_code(has_differences));
        }
        Command::Restore(arguments) => {
            restore::restore_tables(selection, &arguments, output).await?;
        }
        Command::Stop => stop::stop_stack(selection, output).await?,
        Command::Destroy(arguments) => {
            destroy::destroy_stack(selection, &arguments, output).await?;
        }
        Command::LocalCloud(arguments) => local_cloud::run_local_cloud(&arguments, ports).await?,
    }
    Ok(ExitCode::SUCCESS)
}

fn comparison_exit_code(has_differences: bool) -> ExitCode {
    if has_differences { ExitCode::from(DIFFERENCES) } else { ExitCode::SUCCESS }
}
