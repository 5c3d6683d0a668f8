//! The command line: arguments in, exit code out.

mod args;
mod output;

use std::process::ExitCode;

use cellar_local::Ports;
use clap::Parser as _;
use clap::error::ErrorKind;

use crate::commands;
use crate::error::SynthError;
pub(crate) use args::{
    ArchitectureArgument, ArchiveArguments, BundleArguments, DeployArguments, DestroyArguments,
    Format, InitArguments, LocalCloudArguments, MintArguments, ReprocessArguments,
    RunbookArguments, SmokeArguments, TemplateArguments, TokenArguments, TokenCommand,
};
use args::{Arguments, Command};
pub(crate) use output::{Output, Step};

/// Exit code of wrong usage.
const USAGE: u8 = 64;

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    main_with(Ports::default())
}

/// As [`main`], with parts of a local cloud's world replaced: for tests.
#[must_use]
pub fn main_with(ports: Ports) -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let output = Output::new(arguments.json);
    match run(arguments, &output, ports) {
        Ok(()) => ExitCode::SUCCESS,
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

fn run(arguments: Arguments, output: &Output, ports: Ports) -> Result<(), SynthError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(SynthError::Process)?;
    let config = arguments.config.as_deref();
    runtime.block_on(async {
        match arguments.command {
            Command::Init(arguments) => commands::init::run(config, &arguments, output),
            Command::Template(arguments) => commands::template::run(config, &arguments, output),
            Command::Runbook(arguments) => commands::runbook::run(config, &arguments, output),
            Command::Bundle(arguments) => commands::bundle::run(config, &arguments, output),
            Command::Deploy(arguments) => {
                commands::deploy::run(config, &arguments, output, ports).await
            }
            Command::Status => commands::status::run(config, output).await,
            Command::Smoke(arguments) => commands::smoke::run(config, &arguments, output).await,
            Command::Token(arguments) => commands::token::run(config, &arguments, output),
            Command::Archive(arguments) => commands::archive::run(config, &arguments, output).await,
            Command::Reprocess(arguments) => {
                commands::reprocess::run(config, &arguments, output).await
            }
            Command::Destroy(arguments) => commands::destroy::run(config, &arguments, output).await,
            Command::LocalCloud(arguments) => commands::local_cloud::run(&arguments, ports).await,
        }
    })
}
