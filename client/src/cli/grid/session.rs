//! The spreadsheet behind the grid.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::polling::Polling;
use cellar_api::{wire::CellsReply, wire::SheetView};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{Operation, Undo};

use super::super::args;
use super::super::edit::find;
use super::super::error::CliError;
use super::super::output::count;
use super::super::warnings::IN_VIEW;
use super::frame::{Contents, Layout};
use super::state::{Asked, Grid, Key};
use crate::Pokes;
use crate::client::random;
use crate::live::{LiveError, LiveSheet, Settlement, EditOutcome, SyncReport, poll_event};

/// Own edits that can be taken back.
const MAX_UNDO: usize = 1_000;

pub(super) struct Session {
    live: LiveSheet,
    pokes: Pokes,
    pub(super) grid: Grid,
    pub(super) contents: Contents,
    polling: Polling,
    /// Why nobody answers.
    offline: Option<String>,
    /// The own edits of this session that are in the spreadsheet, oldest first.
    done: Vec<Position>,
    /// What has to be said when the terminal is as it was.
    complaints: Vec<String>,
    /// What was shown last, and whether it is news what differs.
    seen: Option<(Rectangle, Position)>,
    formulas_in_view: bool,
}

impl Session {
    pub(super) fn begin(
        live: LiveSheet,
        pokes: Pokes,
        args: &args::Edit,
    ) -> Result<Self, CliError> {
        let named = args.sheet.clone().or_else(|| args.cell.as_ref()?.sheet.clone());
        let mut grid = Grid::new(find(&live.sheets(), named.as_deref())?);
        if let Some(at) = &args.cell {
            grid.place = at.rectangle.first;
        }
        Ok(Self {
            live,
            pokes,
            grid,
            contents: Contents::default(),
            polling: Polling::default(),
            offline: None,
            done: Vec::new(),
            complaints: Vec::new(),
            seen: None,
            formulas_in_view: false,
        })
    }

    /// How many edits wait to be sent.
    pub(super) fn waiting(&self) -> usize {
        self.live.pending().count()
    }

    pub(super) fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// What a key does. An edit is on disk when this returns.
    pub(super) fn press(&mut self, key: Key, layout: &Layout) -> Asked {
        self.contents.new.clear();
        let held = self.contents.held(self.grid.place).to_owned();
        let room = layout.room(self.grid.corner.row);
        let asked;
        (self.grid, asked) = self.grid.clone().press(key, room, &held);
        let refused = match &asked {
            Asked::Edit(operation) => self.edit(operation.clone()),
            Asked::Undo => match self.done.pop() {
                Some(position) => self.edit(Operation::Undo(Undo { position })),
                None => Err("nothing of this session is there to be taken back".to_owned()),
            },
            Asked::Sheet { forward } => {
                self.turn(*forward);
                Ok(())
            }
            Asked::Nothing | Asked::Quit => Ok(()),
        };
        self.grid.notice = refused.err().or(self.grid.notice.take());
        asked
    }

    fn edit(&mut self, operation: Operation) -> Result<(), String> {
        self.live.edit(operation).map(drop).map_err(|error| error.to_string())
    }

    fn turn(&mut self, forward: bool) {
        let sheets = self.live.sheets();
        let here = sheets.iter().position(|sheet| sheet.sheet == self.grid.sheet).unwrap_or(0);
        let last = sheets.len().saturating_sub(1);
        let next = if forward { here.saturating_add(1).min(last) } else { here.saturating_sub(1) };
        if let Some(sheet) = sheets.get(next).filter(|_| next != here) {
            self.grid.turn_to(sheet.sheet);
        }
    }

    /// Waits until the spreadsheet has grown, if somebody says so.
    pub(super) async fn poked(&mut self) {
        self.pokes.wait_beyond(self.live.position()).await;
    }

    /// Sends what waits and fetches what is new; for how long to wait then, milliseconds.
    pub(super) async fn round(&mut self) -> u64 {
        let round = self.live.sync().await;
        let (polling, delay_ms) = self.polling.step(poll_event(&round), random());
        self.polling = polling;
        match round {
            Ok(synced) => {
                self.offline = None;
                self.report(&synced);
            }
            Err(error) if error.is_offline() => self.offline = Some("offline".to_owned()),
            Err(error) => self.offline = Some(error.to_string()),
        }
        delay_ms
    }

    fn report(&mut self, synced: &SyncReport) {
        for Settlement { position, outcome, .. } in &synced.settled {
            match outcome {
                EditOutcome::Rejected(rejection) => {
                    self.grid.notice = Some(format!("an edit was rejected: {}", rejection.detail));
                }
                EditOutcome::Unchanged | EditOutcome::Transformed(_) | EditOutcome::Unknown => {
                    self.done.extend(position);
                }
            }
        }
        self.done.drain(..self.done.len().saturating_sub(MAX_UNDO));
        for aside in &synced.set_aside {
            let (edits, file) = (count(aside.edits, "edit", "edits"), aside.file.display());
            let complaint = format!(
                "{edits} may or may not have got through before the spreadsheet was restored: {file}"
            );
            self.grid.notice = Some(complaint.clone());
            self.complaints.push(complaint);
        }
        if synced.reapplied > 0 {
            let edits = count(synced.reapplied, "edit", "edits");
            self.grid.notice = Some(format!("the spreadsheet was restored; {edits} made again"));
        }
    }

    /// Looks at what is to be shown.
    pub(super) async fn look(&mut self, layout: &Layout) {
        let Some(name) = self.name_of_sheet() else { return };
        self.grid.follow(layout.room(self.grid.corner.row));
        let rectangle = self.grid.rectangle(layout.room(self.grid.corner.row));
        match self.live.view(Some(&name), rectangle).await {
            Ok(reply) => self.take(&reply, rectangle),
            // What was made offline is placed by the next round.
            Err(LiveError::CannotRebase { .. }) => {}
            Err(error) => self.grid.notice = Some(error.to_string()),
        }
        self.contents.sheet_name = name;
        self.contents.status = self.status();
    }

    /// The name of the sheet that one is in; of the first, if others have deleted it.
    fn name_of_sheet(&mut self) -> Option<String> {
        let sheets = self.live.sheets();
        let here = |sheet: &&SheetView| sheet.sheet == self.grid.sheet;
        if let Some(sheet) = sheets.iter().find(here) {
            return Some(sheet.name.clone());
        }
        let first = sheets.first()?;
        self.grid.turn_to(first.sheet);
        self.grid.notice = Some("others have deleted the sheet".to_owned());
        Some(first.name.clone())
    }

    fn take(&mut self, reply: &CellsReply, rectangle: Rectangle) {
        let cells: BTreeMap<_, _> = reply
            .cells
            .iter()
            .map(|placed| {
                let place = CellName { row: placed.row, column: placed.column };
                let right = matches!(placed.cell.value, Value::Number(_));
                (place, (placed.cell.text(), right))
            })
            .collect();
        self.formulas_in_view = reply.cells.iter().any(|placed| placed.cell.formula.is_some());
        // Only what came while one looked at these very cells.
        let came = |(seen, at): (Rectangle, Position)| {
            seen == rectangle && at < self.live.position() && self.live.pending().next().is_none()
        };
        if self.seen.is_some_and(came) {
            let before = &self.contents.cells;
            let places: BTreeSet<_> = before.keys().chain(cells.keys()).copied().collect();
            let differ = places.into_iter().filter(|place| before.get(place) != cells.get(place));
            self.contents.new.extend(differ);
        }
        self.contents.cells = cells;
        self.seen = Some((rectangle, self.live.position()));
    }

    fn status(&self) -> String {
        let waiting = Some(self.waiting()).filter(|waiting| *waiting > 0);
        let waiting = waiting.map(|waiting| format!("{waiting} not sent"));
        let formulas = self.formulas_in_view.then(|| IN_VIEW.to_owned());
        let position = Some(self.live.position().to_string());
        let parts = [formulas, waiting, self.offline.clone(), position];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}
