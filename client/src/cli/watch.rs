mod affects;

use std::time::Duration;

use cellar_api::wire::{EntryView, Head};
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;
use serde::Serialize;

use super::args;
use super::at::find_optional;
use super::context::Context;
use super::edit::{choose_sheet_name, find_sheet_number, read_sheet_names};
use super::error::CliError;
use super::history::{author_name, describe_entry, is_displayed};
use super::output::{COLUMN_GAP, Output};
use crate::describe::SheetNames;
use cellar_api::time::format_utc;

use crate::{FollowEvent, Spreadsheet};
use affects::affects_range;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
enum WatchEvent<'a> {
    /// A new log entry.
    Entry {
        #[serde(flatten)]
        entry: &'a EntryView,
        #[serde(rename = "what")]
        description: String,
    },
    /// The server is unreachable.
    Offline { why: String },
    /// The server is reachable again.
    Online,
    /// The log entries up to position `to` were skipped, either because there were too many or
    /// because the tables were restored.
    Skipped { to: Position, restored: bool },
}

pub(super) async fn watch_changes(
    context: &Context,
    output: &Output,
    args: args::Watch,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    context.print_unsent_note(&spreadsheet, output);
    tokio::select! {
        result = print_changes(spreadsheet, output, &args) => result,
        () = sleep_or_wait_forever(args.for_time) => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

async fn print_changes(
    spreadsheet: Spreadsheet,
    output: &Output,
    args: &args::Watch,
) -> Result<(), CliError> {
    let mut watcher = Watcher::start(spreadsheet, *output, args).await?;
    watcher.follow().await
}

async fn sleep_or_wait_forever(duration: Option<Duration>) {
    match duration {
        Some(duration) => tokio::time::sleep(duration).await,
        None => std::future::pending().await,
    }
}

struct WatchFilter {
    sheet: SheetId,
    rectangle: Rectangle,
}

struct Watcher {
    spreadsheet: Spreadsheet,
    output: Output,
    filter: Option<WatchFilter>,
    until: Option<Position>,
    printed_head: Head,
    /// Sheet names at the position of `printed_head`.
    names: SheetNames,
}

impl Watcher {
    async fn start(
        spreadsheet: Spreadsheet,
        output: Output,
        args: &args::Watch,
    ) -> Result<Self, CliError> {
        let after = find_optional(args.after.as_ref(), &spreadsheet, &output).await?;
        let until = find_optional(args.until.as_ref(), &spreadsheet, &output).await?;
        let sheets = match after {
            Some(after) => spreadsheet.sheets_at(after.position).await?,
            None => spreadsheet.sheets().await?,
        };
        let sheet_name = choose_sheet_name(args.sheet.clone(), args.range.as_ref())?;
        let sheet = find_sheet_number(&sheets.sheets, sheet_name.as_deref())?;
        let is_filtered = args.range.is_some() || sheet_name.is_some();
        let rectangle = args.range.as_ref().map_or(Rectangle::EVERYTHING, |range| range.rectangle);
        let filter = if is_filtered { Some(WatchFilter { sheet, rectangle }) } else { None };
        Ok(Self {
            spreadsheet,
            output,
            filter,
            until: until.map(|until| until.position),
            printed_head: Head { head: sheets.position, incarnation: sheets.incarnation },
            names: SheetNames::from(&sheets),
        })
    }

    fn is_finished(&self) -> bool {
        self.until.is_some_and(|until| self.printed_head.head >= until)
    }

    /// Without `--until`, never returns.
    async fn follow(&mut self) -> Result<(), CliError> {
        let mut events = self.spreadsheet.follow_from(self.printed_head);
        while !self.is_finished() {
            match events.try_next().await? {
                Some(event) => self.print_follow_event(event).await?,
                None => break,
            }
        }
        Ok(())
    }

    async fn print_follow_event(&mut self, event: FollowEvent) -> Result<(), CliError> {
        match event {
            FollowEvent::Entry(entry) => {
                self.printed_head.head = entry.position;
                self.print_entry(&entry)
            }
            FollowEvent::Skipped { to, restored } => self.skip_to(to, restored).await,
            FollowEvent::Offline(error) => {
                let why = error.to_string();
                let note = format!("Offline: {why}. Retrying …");
                self.print_event(note, &WatchEvent::Offline { why })
            }
            FollowEvent::Online => self.print_event("Online again.", &WatchEvent::Online),
        }
    }

    /// `restored` states whether the tables were restored to an earlier time.
    async fn skip_to(&mut self, to: Position, restored: bool) -> Result<(), CliError> {
        self.names = read_sheet_names(&self.spreadsheet, to).await;
        self.printed_head.head = to;
        let note = if restored {
            format!("The spreadsheet was restored to an earlier time; continuing at {to}.")
        } else {
            format!("Too many entries to print; continuing at {to}.")
        };
        self.print_event(note, &WatchEvent::Skipped { to, restored })
    }

    fn print_entry(&mut self, entry: &EntryView) -> Result<(), CliError> {
        // Describe the entry even if it is not printed, because this updates the sheet names.
        let description = describe_entry(entry, &mut self.names);
        let filter = self.filter.as_ref();
        let passes_filter =
            filter.is_none_or(|filter| affects_range(entry, filter.sheet, filter.rectangle));
        if !is_displayed(entry) || !passes_filter {
            return Ok(());
        }
        let position = entry.position.to_string();
        let columns =
            [position, format_utc(entry.created_s), author_name(entry), description.clone()];
        self.output.print_line(columns.join(COLUMN_GAP))?;
        Ok(self.output.print_json(&WatchEvent::Entry { entry, description })?)
    }

    fn print_event(&self, note: impl AsRef<str>, event: &WatchEvent<'_>) -> Result<(), CliError> {
        self.output.print_note(note);
        Ok(self.output.print_json(event)?)
    }
}
