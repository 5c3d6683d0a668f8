//! `cellar watch`

mod affects;

use std::time::Duration;

use cellar_api::polling::{PollEvent, Polling};
use cellar_api::{wire::EntriesReply, wire::EntryView, wire::Head, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;
use serde::Serialize;

use super::advice::Advised;
use super::args;
use super::context::Context;
use super::edit::{find_sheet_number, sheet_of_range};
use super::error::CliError;
use super::history::{describe_entry, is_displayed};
use super::output::{COLUMN_GAP, Output};
use super::time::utc;
use crate::client::random;
use crate::describe::SheetNames;
use crate::text::escape;
use crate::{Client, Pokes};
use affects::affects_range;

/// A line of `--json` output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
enum WatchEvent<'a> {
    /// A new entry.
    Entry {
        #[serde(flatten)]
        entry: &'a EntryView,
        /// Description of the log entry.
        #[serde(rename = "what")]
        description: String,
    },
    /// The server is unreachable.
    Offline { why: String },
    /// The server is reachable again.
    Online,
    /// The log entries up to `to` were skipped, because there were too many or the tables were
    /// restored.
    Skipped { to: Position, restored: bool },
}

pub(super) async fn watch_changes(
    context: &Context,
    output: &Output,
    args: args::Watch,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    context.note_unsent(&client, spreadsheet, output);
    let watching = async {
        let mut watcher = Watcher::new(client, spreadsheet, *output, &args).await?;
        watcher.follow().await
    };
    let timeout = async {
        match args.for_time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        result = watching => result,
        () = timeout => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

/// Prints a spreadsheet's new log entries.
struct Watcher {
    client: Client,
    spreadsheet: LogId,
    output: Output,
    /// The sheet and range to which the output is limited.
    filter: Option<(SheetId, Rectangle)>,
    until: Option<Position>,
    printed_head: Head,
    names: SheetNames,
    polling: Polling,
    pokes: Pokes,
}

impl Watcher {
    async fn new(
        client: Client,
        spreadsheet: LogId,
        output: Output,
        args: &args::Watch,
    ) -> Result<Self, CliError> {
        let sheets = client.sheets(spreadsheet, args.after, None).await?;
        let sheet_name = sheet_of_range(args.sheet.clone(), args.range.as_ref())?;
        let sheet = find_sheet_number(&sheets.sheets, sheet_name.as_deref())?;
        let filter = match &args.range {
            Some(range) => Some((sheet, range.rectangle)),
            None if sheet_name.is_some() => Some((sheet, Rectangle::EVERYTHING)),
            None => None,
        };
        Ok(Self {
            pokes: client.pokes(spreadsheet),
            client,
            spreadsheet,
            output,
            filter,
            until: args.until,
            printed_head: Head { head: sheets.position, incarnation: sheets.incarnation },
            names: SheetNames::from(&sheets),
            polling: Polling::default(),
        })
    }

    /// Returns whether the position of `--until` was reached.
    fn is_finished(&self) -> bool {
        self.until.is_some_and(|until| self.printed_head.head >= until)
    }

    /// Prints new log entries until the position of `--until` is reached, or forever.
    async fn follow(&mut self) -> Result<(), CliError> {
        while !self.is_finished() {
            let poll_event = match self.poll().await {
                Ok(true) => PollEvent::Active,
                Ok(false) => PollEvent::Quiet,
                Err(CliError::Client(Advised(error))) if error.is_offline() => {
                    if !self.polling.is_failing() {
                        let why = error.to_string();
                        let text = format!("Offline: {why}. Retrying …");
                        self.print_event(text, &WatchEvent::Offline { why })?;
                    }
                    PollEvent::Failed
                }
                Err(error) => return Err(error),
            };
            let delay_ms;
            (self.polling, delay_ms) = self.polling.step(poll_event, random());
            if !self.is_finished() {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(delay_ms)) => {}
                    _ = self.pokes.wait_beyond(self.printed_head.head) => {}
                }
            }
        }
        Ok(())
    }

    /// Polls once and prints new log entries. Returns whether there were any.
    async fn poll(&mut self) -> Result<bool, CliError> {
        let newest = self.client.head_if_changed(self.spreadsheet, self.printed_head).await?;
        if self.polling.is_failing() {
            // Print the note before the log entries that were appended while the server was
            // unreachable.
            self.print_event("Online again.", &WatchEvent::Online)?;
            self.polling = self.polling.step(PollEvent::Quiet, random()).0;
        }
        let Some(newest) = newest else { return Ok(false) };
        if newest.incarnation != self.printed_head.incarnation {
            self.skip_to(newest, true).await?;
            return Ok(true);
        }
        while self.printed_head.head < newest.head {
            let page = match self.client.entries(self.spreadsheet, self.printed_head.head).await {
                Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => {
                    self.skip_to(newest, false).await?;
                    break;
                }
                page => page?,
            };
            let EntriesReply { incarnation, entries, .. } = page;
            if incarnation != self.printed_head.incarnation || entries.is_empty() {
                break;
            }
            for entry in entries {
                self.print_entry(&entry)?;
                self.printed_head.head = entry.position;
            }
        }
        Ok(true)
    }

    /// Skips to the newest position without printing the entries before it. `restored` is set if
    /// the tables were restored.
    async fn skip_to(&mut self, newest: Head, restored: bool) -> Result<(), CliError> {
        let sheets = self.client.sheets(self.spreadsheet, Some(newest.head), None).await?;
        self.names = SheetNames::from(&sheets);
        self.printed_head = newest;
        let to = newest.head;
        let text = if restored {
            format!("The spreadsheet was restored to an earlier time; continuing at {to}.")
        } else {
            format!("Too many entries to print; continuing at {to}.")
        };
        self.print_event(text, &WatchEvent::Skipped { to, restored })
    }

    /// Prints a log entry unless it is filtered out.
    fn print_entry(&mut self, entry: &EntryView) -> Result<(), CliError> {
        // Describe every entry, even a filtered one, because this also updates the sheet names.
        let description = describe_entry(entry, &mut self.names);
        let passes_filter =
            self.filter.is_none_or(|(sheet, range)| affects_range(entry, sheet, range));
        if !is_displayed(entry) || !passes_filter {
            return Ok(());
        }
        let position = entry.position.to_string();
        let author = escape(entry.author.as_deref().unwrap_or("-"));
        self.output
            .say([position, utc(entry.created_s), author, description.clone()].join(COLUMN_GAP))?;
        Ok(self.output.result(&WatchEvent::Entry { entry, description })?)
    }

    /// Prints an event other than a log entry, as a note or as JSON.
    fn print_event(&self, text: impl AsRef<str>, event: &WatchEvent<'_>) -> Result<(), CliError> {
        self.output.note(text);
        Ok(self.output.result(event)?)
    }
}
