//! The `cellar` command. Most subcommands are implemented in a module of the same name. The modules
//! `axes`, `catalog`, `grid` and `ranges` implement the other subcommands.

mod advice;
mod args;
mod at;
mod axes;
mod catalog;
mod cell_history;
mod compare;
mod context;
mod cost;
mod create;
mod destination;
mod diff;
mod edit;
mod error;
mod export;
mod feed;
mod filter;
mod find;
mod fork;
mod formula_notes;
mod formula_warnings;
mod get;
mod grid;
mod head;
mod headers;
mod health;
pub mod help;
mod history;
mod import;
mod list;
mod login;
mod logins;
mod merge;
mod names;
mod other_stack;
mod output;
mod ranges;
mod redo;
mod reference;
mod replay;
pub mod report;
mod resolve;
mod reversal;
mod revert;
mod set;
mod sheets;
mod spinner;
mod spreadsheet_link;
mod stats;
mod sync;
pub mod table;
mod trace;
mod undo;
mod use_spreadsheet;
mod warnings;
mod watch;

pub use advice::{Advised, CommandAdvice};

use std::ffi::OsString;
use std::process::ExitCode;

use cellar_sheet::axis_map::Axis;
use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use args::{Cli, Command, Global};
use context::Context;
use error::CliError;
use output::Output;

use crate::RequestCosts;
use report::report;

/// Exit code for success.
pub const EXIT_SUCCESS: u8 = 0;
/// Exit code for an error.
pub const EXIT_ERROR: u8 = 1;
/// Exit code of `cellar diff` and `compare` if they found differences, of `cellar merge` and `replay` if edits were
/// dropped, rejected or in conflict, and of `cellar sync` if edits were rejected or set aside.
pub const EXIT_DIFFERENCES: u8 = 2;
/// Exit code for invalid arguments (`EX_USAGE`).
pub const EXIT_USAGE: u8 = 64;

const WORKER_THREADS: usize = 2;

/// Returns the command-line definition, from which the reference page is generated.
#[must_use]
pub fn command() -> clap::Command {
    Cli::grouped()
}

/// Runs the command with this process's arguments and returns the exit code.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os().collect()))
}

/// Runs a command line and returns the exit code. The first argument is the program name.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> u8 {
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    let matches = Cli::grouped().try_get_matches_from(arguments);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return print_parse_error(&with_tip(error), wants_json),
    };
    let Global { json, cost, .. } = cli.global;
    let (result, costs) = execute(cli);
    let exit_code = match result {
        Ok(exit_code) => exit_code,
        Err(error) if error.is_broken_pipe() => EXIT_SUCCESS,
        Err(error) => {
            report(&error, json);
            error.exit_code()
        }
    };
    if cost {
        cost::print_cost(&costs, json);
    }
    exit_code
}

fn with_tip(mut error: clap::Error) -> clap::Error {
    if let Some(tip) = tip_for(error.kind(), &error.to_string()) {
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// A name of a sheet is often passed as a range, and a status as an option.
fn tip_for(kind: ErrorKind, message: &str) -> Option<String> {
    if kind == ErrorKind::ValueValidation && message.contains("is not a range") {
        return Some("name a sheet with --sheet NAME, or with the range: NAME!A1:C10".to_owned());
    }
    let status = ["archived", "deleted"].into_iter().find(|status| {
        kind == ErrorKind::UnknownArgument && message.contains(&format!("'--{status}'"))
    })?;
    Some(format!("list the spreadsheets of this status with: cellar list --status {status}"))
}

/// Prints an error of clap, which reports the texts of `--help` and `--version` as errors as well.
/// Ignores errors when printing, such as a closed pipe.
fn print_parse_error(error: &clap::Error, wants_json: bool) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return EXIT_SUCCESS;
    }
    if wants_json {
        report(&CliError::from_clap_message(&error.to_string()), true);
    } else {
        let _ = error.print();
    }
    EXIT_USAGE
}

fn execute(cli: Cli) -> (Result<u8, CliError>, RequestCosts) {
    let output = Output::new(cli.global.json);
    let Cli { global, command } = cli;
    if let Err(error) = command.check_no_name() {
        return (Err(error), RequestCosts::default());
    }
    let command = match command {
        Command::Login(args) => {
            let log_in = login::log_in(&output, args, global.token);
            return (run_async(log_in), RequestCosts::default());
        }
        Command::Logout(args) => {
            return (login::log_out(&output, &args), RequestCosts::default());
        }
        command => command,
    };
    match Context::new(global, &command) {
        Ok(mut context) => {
            let result = execute_command(&mut context, output, command);
            (result, context.cost())
        }
        Err(error) => (Err(error), RequestCosts::default()),
    }
}

fn execute_command(
    context: &mut Context,
    output: Output,
    command: Command,
) -> Result<u8, CliError> {
    run_async(async {
        context.look_up_selected(&command).await?;
        let result = match command {
            // `execute` handles these two, which need no context.
            Command::Login(_) | Command::Logout(_) => Ok(()),
            Command::Create(args) => create::create_spreadsheet(context, &output, args).await,
            Command::List(args) => list::list_spreadsheets(context, &output, args).await,
            Command::Import(args) => import::import_file(context, &output, args).await,
            Command::Get(args) => get::print_cells(context, &output, args).await,
            Command::Find(args) => find::find_cells(context, &output, args).await,
            Command::Edit(args) => Box::pin(grid::edit_in_grid(context, &output, args)).await,
            Command::Set(args) => set::set_cells(context, &output, args).await,
            Command::Clear(args) => ranges::clear_ranges(context, &output, args).await,
            Command::Format(args) => ranges::format_range(context, &output, args).await,
            Command::Rows(args) => axes::edit_axis(context, &output, Axis::Rows, args).await,
            Command::Columns(args) => axes::edit_axis(context, &output, Axis::Columns, args).await,
            Command::Sheets(args) => sheets::list_or_edit_sheets(context, &output, args).await,
            Command::Names(args) => names::list_or_edit_names(context, &output, args).await,
            Command::Trace(args) => trace::trace_cell(context, &output, args).await,
            Command::Undo(args) => undo::undo_edit(context, &output, args).await,
            Command::Redo(args::Redo {}) => redo::redo_edit(context, &output).await,
            Command::Revert(args) => revert::revert_to_position(context, &output, args).await,
            Command::Details(args) => catalog::show_details(context, &output, args).await,
            Command::Rename(args) => catalog::rename_spreadsheet(context, &output, args).await,
            Command::Share(args) => catalog::share_spreadsheet(context, &output, args).await,
            Command::Unshare(args) => catalog::unshare_spreadsheet(context, &output, args).await,
            Command::Links(args) => catalog::list_or_edit_links(context, &output, args).await,
            Command::Archive(_) => catalog::archive_spreadsheet(context, &output).await,
            Command::Unarchive(_) => catalog::unarchive_spreadsheet(context, &output).await,
            Command::Delete(_) => catalog::delete_spreadsheet(context, &output).await,
            Command::Undelete(_) => catalog::undelete_spreadsheet(context, &output).await,
            // `cellar diff`, `compare`, `sync`, `merge` and `replay` choose their own exit codes.
            Command::Diff(args) => return diff::show_differences(context, &output, args).await,
            Command::Compare(args) => return compare::compare_file(context, &output, args).await,
            Command::Sync(args) => return sync::send_waiting_edits(context, &output, args).await,
            Command::Merge(args) => return merge::merge_fork(context, &output, args).await,
            Command::Replay(args) => return replay::replay_fork(context, &output, args).await,
            Command::History(args) => history::show_history(context, &output, args).await,
            Command::Watch(args) => watch::watch_changes(context, &output, args).await,
            Command::Export(args) => export::export_file(context, &output, args).await,
            Command::Head => head::print_head(context, &output).await,
            Command::Fork(args) => fork::fork_spreadsheet(context, &output, args).await,
            Command::Forks => fork::list_forks(context, &output).await,
            Command::Stats(args) => stats::show_statistics(context, &output, args).await,
            Command::Use(args) => use_spreadsheet::select_spreadsheet(context, &output, args).await,
            Command::Feed(args) => feed::print_feed(context, &output, args).await,
            Command::Health => health::check_health(context, &output).await,
        };
        result.map(|()| EXIT_SUCCESS)
    })
}

fn run_async(command: impl Future<Output = Result<u8, CliError>>) -> Result<u8, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .map_err(|source| CliError::Output { source })?;
    runtime.block_on(command)
}
