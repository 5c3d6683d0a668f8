//! The command line: arguments in, exit code out.

mod args;
mod output;
mod resource_list;

use std::process::ExitCode;

use cellar_local::Ports;
use clap::error::ErrorKind;

use crate::commands;
use crate::error::SynthError;
use crate::project::Named;
pub(crate) use args::{
    ArchitectureArgument, AwsArguments, BundleArguments, CiCommand, CiInitArguments, CostArguments,
    DeployArguments, DestroyArguments, DiffArguments, DiffFormat, DriftArguments, FailOn,
    FeedCommand, FeedPlace, FeedRebuild, Format, FunctionArgument, InitArguments,
    LocalCloudArguments, LogsArguments, OffloadArguments, PlanArguments, PurgeArguments,
    ReprocessArguments, RestoreArguments, RestoreTime, RunbookArguments, SmokeArguments,
    SmokeFormat, StatusArguments, TemplateArguments, TokenArguments, TokenCommand,
    TokenCreateArguments, WebhookCommand, WebhookPlace, WebhookSecret, WhereArguments,
};
use args::{Arguments, Command};
pub(crate) use output::{Output, ProgressStep};
pub(crate) use resource_list::ResourceList;

/// Exit code of `diff` where there are differences.
const DIFFERENCES: u8 = 2;
/// Exit code of wrong usage.
const USAGE: u8 = 64;

/// Returns the definition of the command line, for its reference page.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::grouped()
}

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    main_with(Ports::default())
}

/// As [`main`], with parts of a local cloud's world replaced: for tests.
#[must_use]
pub fn main_with(ports: Ports) -> ExitCode {
    let arguments = match Arguments::parse_grouped() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
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

/// Help and version on stdout; wrong usage on stderr, for programs as JSON.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Nothing is left to do if the terminal is gone.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|argument| argument == "--json") {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        Output::new(true).error(&SynthError::Usage(message));
    } else {
        let _ = error.print();
    }
    ExitCode::from(USAGE)
}

fn run(arguments: Arguments, output: &Output, ports: Ports) -> Result<ExitCode, SynthError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(SynthError::Process)?;
    // An empty variable is an unset one.
    let stage = arguments.stage.as_deref().filter(|stage| !stage.is_empty());
    let config = Named { file: arguments.config.as_deref(), stage };
    let ended = runtime.block_on(run_command(arguments.command, config, output, ports));
    if matches!(ended, Err(SynthError::Interrupted { .. })) {
        // Somebody may still be asked something.
        runtime.shutdown_background();
    }
    ended
}

async fn run_command(
    command: Command,
    config: Named<'_>,
    output: &Output,
    ports: Ports,
) -> Result<ExitCode, SynthError> {
    match command {
        Command::Init(arguments) => commands::init::run(config, &arguments, output),
        Command::Template(arguments) => commands::template::run(config, &arguments, output),
        Command::Runbook(arguments) => commands::runbook::run(config, &arguments, output),
        Command::Bundle(arguments) => commands::bundle::run(config, &arguments, output),
        Command::Diff(arguments) => {
            return commands::diff::run(config, &arguments, output).await.map(differs);
        }
        Command::Ci(arguments) => commands::ci::run(config, &arguments.command, output),
        Command::Plan(arguments) => {
            return commands::plan::run(config, &arguments, output).await.map(differs);
        }
        Command::Deploy(arguments) => {
            let output = output.with_progress(arguments.progress);
            commands::deploy::run(config, &arguments, &output, ports).await
        }
        Command::Drift(arguments) => {
            return commands::drift::run(config, &arguments, output).await.map(differs);
        }
        Command::Status(arguments) => commands::status::run(config, &arguments, output).await,
        Command::Logs(arguments) => commands::logs::run(config, &arguments, output).await,
        Command::Cost(arguments) => commands::cost::run(config, &arguments, output).await,
        Command::Smoke(arguments) => commands::smoke::run(config, &arguments, output).await,
        Command::Token(arguments) => commands::token::run(config, &arguments, output),
        Command::Offload(arguments) => commands::offload::run(config, &arguments, output).await,
        Command::Purge(arguments) => commands::purge::run(config, &arguments, output).await,
        Command::Reprocess(arguments) => commands::reprocess::run(config, &arguments, output).await,
        Command::Feed(arguments) => {
            return commands::feed::run(config, &arguments.command, output).await.map(differs);
        }
        Command::Webhook(arguments) => {
            return commands::webhook::run(config, &arguments.command, output).await.map(differs);
        }
        Command::Restore(arguments) => commands::restore::run(config, &arguments, output).await,
        Command::Destroy(arguments) => commands::destroy::run(config, &arguments, output).await,
        Command::LocalCloud(arguments) => commands::local_cloud::run(&arguments, ports).await,
    }?;
    Ok(ExitCode::SUCCESS)
}

fn differs(differs: bool) -> ExitCode {
    if differs { ExitCode::from(DIFFERENCES) } else { ExitCode::SUCCESS }
}
