//! `cellar watch`

mod touches;

use std::time::Duration;

use cellar_api::polling::{PollEvent, Polling};
use cellar_api::{wire::EntriesReply, wire::EntryView, wire::Head, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;
use serde::Serialize;

use super::args;
use super::context::Context;
use super::edit::{find, one_sheet};
use super::error::CliError;
use super::history::{GAP, says_something, what};
use super::output::Output;
use super::time::utc;
use crate::client::random;
use crate::describe::SheetNames;
use crate::table::escape;
use crate::{Client, Pokes};
use touches::touches;

/// One line for a program.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "camelCase")]
enum Line<'a> {
    /// Somebody has changed something.
    Entry {
        #[serde(flatten)]
        entry: &'a EntryView,
        /// What it did, in words.
        what: String,
    },
    /// Nobody answers any more.
    Offline { why: String },
    /// Somebody answers again.
    Online,
    /// The entries up to here are not shown: there were too many at once, or the spreadsheet was
    /// restored to an earlier time.
    Skipped { to: Position, restored: bool },
}

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Watch,
) -> Result<(), CliError> {
    let spreadsheet = context.spreadsheet()?;
    let client = context.client()?;
    context.note_unsent(&client, spreadsheet, output);
    let watching = async {
        let mut watch = Watch::begin(client, spreadsheet, *output, &args).await?;
        watch.follow().await
    };
    let end = async {
        match args.for_time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        watched = watching => watched,
        () = end => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}

/// What is watched, and how far it was shown.
struct Watch {
    client: Client,
    spreadsheet: LogId,
    output: Output,
    /// Only what touches these cells of this sheet.
    filter: Option<(SheetId, Rectangle)>,
    until: Option<Position>,
    shown: Head,
    names: SheetNames,
    polling: Polling,
    pokes: Pokes,
}

impl Watch {
    async fn begin(
        client: Client,
        spreadsheet: LogId,
        output: Output,
        args: &args::Watch,
    ) -> Result<Self, CliError> {
        let sheets = client.sheets(spreadsheet, args.after, None).await?;
        let named = one_sheet(args.sheet.clone(), args.range.as_ref())?;
        let sheet = find(&sheets.sheets, named.as_deref())?;
        let asked = named.is_some() || args.range.is_some();
        let rectangle = args.range.as_ref().map_or(Rectangle::EVERYTHING, |range| range.rectangle);
        let shown = Head { head: sheets.position, incarnation: sheets.incarnation };
        let names = SheetNames::from(&sheets);
        let filter = asked.then_some((sheet, rectangle));
        let (until, polling) = (args.until, Polling::default());
        let pokes = client.pokes(spreadsheet);
        Ok(Self { client, spreadsheet, output, filter, until, shown, names, polling, pokes })
    }

    /// Shows what comes until the position is reached that was asked for.
    async fn follow(&mut self) -> Result<(), CliError> {
        while self.until.is_none_or(|until| self.shown.head < until) {
            let event = match self.poll().await {
                Ok(true) => PollEvent::Active,
                Ok(false) => PollEvent::Quiet,
                Err(CliError::Client(error)) if error.is_offline() => {
                    if !self.polling.is_failing() {
                        let why = error.to_string();
                        let text = format!("Offline: {why}. Trying again …");
                        self.say(text, &Line::Offline { why })?;
                    }
                    PollEvent::Failed
                }
                Err(error) => return Err(error),
            };
            let delay_ms;
            (self.polling, delay_ms) = self.polling.step(event, random());
            if self.until.is_none_or(|until| self.shown.head < until) {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(delay_ms)) => {}
                    _ = self.pokes.wait_beyond(self.shown.head) => {}
                }
            }
        }
        Ok(())
    }

    /// Asks once; whether there was anything new.
    async fn poll(&mut self) -> Result<bool, CliError> {
        let newest = self.client.head_if_changed(self.spreadsheet, self.shown).await?;
        if self.polling.is_failing() {
            // Before what was missed.
            self.say("Online again.", &Line::Online)?;
            self.polling = self.polling.step(PollEvent::Quiet, random()).0;
        }
        let Some(newest) = newest else { return Ok(false) };
        if newest.incarnation != self.shown.incarnation {
            self.skip(newest, true).await?;
            return Ok(true);
        }
        while self.shown.head < newest.head {
            let page = match self.client.entries(self.spreadsheet, self.shown.head).await {
                Err(error) if error.problem_kind() == Some(ProblemKind::ReloadRequired) => {
                    self.skip(newest, false).await?;
                    break;
                }
                page => page?,
            };
            let EntriesReply { incarnation, entries, .. } = page;
            if incarnation != self.shown.incarnation || entries.is_empty() {
                break;
            }
            for entry in entries {
                self.show(&entry)?;
                self.shown.head = entry.position;
            }
        }
        Ok(true)
    }

    /// Goes on at the newest.
    async fn skip(&mut self, newest: Head, restored: bool) -> Result<(), CliError> {
        let sheets = self.client.sheets(self.spreadsheet, Some(newest.head), None).await?;
        self.names = SheetNames::from(&sheets);
        self.shown = newest;
        let to = newest.head;
        let text = match restored {
            true => format!("The spreadsheet was restored to an earlier time; it is at {to} now."),
            false => format!("Too much has happened to show it all; going on at {to}."),
        };
        self.say(text, &Line::Skipped { to, restored })
    }

    fn show(&mut self, entry: &EntryView) -> Result<(), CliError> {
        // Also of what is not shown: the names of sheets.
        let what = what(entry, &mut self.names);
        let is_asked = self.filter.is_none_or(|(sheet, range)| touches(entry, sheet, range));
        if !says_something(entry) || !is_asked {
            return Ok(());
        }
        let author = escape(entry.author.as_deref().unwrap_or("-"));
        let line =
            [entry.position.to_string(), utc(entry.created_s), author, what.clone()].join(GAP);
        self.output.say(line)?;
        Ok(self.output.result(&Line::Entry { entry, what })?)
    }

    /// Says something that is no change: to a person on the side.
    fn say(&self, text: impl AsRef<str>, line: &Line<'_>) -> Result<(), CliError> {
        self.output.note(text);
        Ok(self.output.result(line)?)
    }
}
