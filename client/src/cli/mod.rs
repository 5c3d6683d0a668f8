//! The `cellar` command.

mod advice;
mod args;
mod axes;
mod catalog;
mod context;
mod cost;
mod create;
mod diff;
mod edit;
mod error;
mod export;
mod feed;
mod fork;
mod get;
mod grid;
mod head;
mod health;
pub mod help;
mod history;
mod import;
mod list;
mod output;
mod ranges;
mod replay;
pub mod report;
mod revert;
mod set;
mod sheets;
mod stats;
pub mod table;
mod time;
mod undo;
mod use_spreadsheet;
mod warnings;
mod watch;

pub use advice::{Advised, CommandAdvice};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Cli, Command, Global};
use context::Context;
use error::CliError;
use output::Output;

use crate::RequestCosts;
use report::report;

/// Success.
pub const EXIT_FINE: u8 = 0;
/// An error.
pub const EXIT_ERROR: u8 = 1;
/// `cellar diff` found differences, or `cellar replay` lost edits.
pub const EXIT_DIFFERENCES: u8 = 2;
/// Invalid usage (`EX_USAGE`).
pub const EXIT_USAGE: u8 = 64;

/// Number of worker threads of the async runtime.
const WORKER_THREADS: usize = 2;

/// Returns the command-line definition, from which the reference page is generated.
#[must_use]
pub fn command() -> clap::Command {
    Cli::grouped()
}

/// Runs the command with this process's arguments. Returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os().collect()))
}

/// Runs a command line, whose first argument is the program name. Returns the exit code.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    let parsed = Cli::grouped().try_get_matches_from(arguments);
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // clap returns help and version texts as errors. A broken pipe is not an error here.
            let _ = error.print();
            return EXIT_FINE;
        }
        Err(error) => {
            if json {
                report(&CliError::from_clap_message(&error.to_string()), true);
            } else {
                let _ = error.print();
            }
            return EXIT_USAGE;
        }
    };
    let Global { json, cost, .. } = cli.global;
    let (result, costs) = execute(cli);
    let code = match result {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => EXIT_FINE,
        Err(error) => {
            report(&error, json);
            error.exit_code()
        }
    };
    if cost {
        cost::print_cost(&costs, json);
    }
    code
}

/// Executes the command. Returns the exit code and the cost, even on failure.
fn execute(cli: Cli) -> (Result<u8, CliError>, RequestCosts) {
    let output = Output::new(cli.global.json);
    match Context::new(cli.global) {
        Ok(mut context) => {
            let result = execute_in(&mut context, output, cli.command);
            (result, context.cost())
        }
        Err(error) => (Err(error), RequestCosts::default()),
    }
}

fn execute_in(context: &mut Context, output: Output, command: Command) -> Result<u8, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .map_err(|source| CliError::Output { source })?;
    runtime.block_on(async {
        match command {
            Command::Create(args) => create::run(context, &output, args).await,
            Command::List(args) => list::run(context, &output, args).await,
            Command::Import(args) => import::run(context, &output, args).await,
            Command::Get(args) => get::run(context, &output, args).await,
            Command::Edit(args) => grid::run(context, &output, args).await,
            Command::Set(args) => set::run(context, &output, args).await,
            Command::Clear(args) => ranges::clear(context, &output, args).await,
            Command::Format(args) => ranges::format(context, &output, args).await,
            Command::Rows(args) => axes::run(context, &output, args.command.into()).await,
            Command::Columns(args) => axes::run(context, &output, args.command.into()).await,
            Command::Sheets(args) => sheets::run(context, &output, args).await,
            Command::Undo(args) => undo::run(context, &output, args).await,
            Command::Revert(args) => revert::run(context, &output, args).await,
            Command::Details(args) => catalog::details(context, &output, args).await,
            Command::Rename(args) => catalog::rename(context, &output, args).await,
            Command::Share(args) => catalog::share(context, &output, args).await,
            Command::Unshare(args) => catalog::unshare(context, &output, args).await,
            Command::Links(args) => catalog::links(context, &output, args).await,
            Command::Archive => catalog::archive(context, &output).await,
            Command::Unarchive => catalog::unarchive(context, &output).await,
            Command::Delete => catalog::delete(context, &output).await,
            Command::Undelete => catalog::undelete(context, &output).await,
            Command::Diff(args) => return diff::run(context, &output, args).await,
            Command::History(args) => history::run(context, &output, args).await,
            Command::Watch(args) => watch::run(context, &output, args).await,
            Command::Export(args) => export::run(context, &output, args).await,
            Command::Head => head::run(context, &output).await,
            Command::Fork(args) => fork::run(context, &output, args).await,
            Command::Replay(args) => return replay::run(context, &output, args).await,
            Command::Forks => fork::list(context, &output).await,
            Command::Stats(args) => stats::run(context, &output, args).await,
            Command::Use(args) => use_spreadsheet::run(context, &output, args).await,
            Command::Feed(args) => feed::run(context, &output, args).await,
            Command::Health => health::run(context, &output).await,
        }
        .map(|()| EXIT_FINE)
    })
}
