//! The live spreadsheet shown in the grid.

use std::collections::{BTreeMap, BTreeSet};

use cellar_api::polling::Polling;
use cellar_api::{wire::CellsReply, wire::SheetView};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{Operation, Undo};

use super::super::args;
use super::super::edit::find_sheet_number;
use super::super::error::CliError;
use super::super::output::count;
use super::super::warnings::FORMULAS_NOT_CALCULATED;
use super::frame::{Contents, Layout};
use super::key::Key;
use super::state::{Grid, GridAction};
use crate::Pokes;
use crate::client::random;
use crate::live::{EditOutcome, LiveError, LiveSheet, Settlement, SyncReport, poll_event};

/// Maximum number of the user's edits that can be undone.
const MAX_UNDO: usize = 1_000;

pub(super) struct Session {
    live: LiveSheet,
    pokes: Pokes,
    pub(super) grid: Grid,
    pub(super) contents: Contents,
    polling: Polling,
    /// Reason why the last sync failed.
    offline: Option<String>,
    /// Positions of this session's undoable edits, oldest first.
    undoable: Vec<Position>,
    /// Messages to print after the grid is closed.
    messages: Vec<String>,
    /// Rectangle and position of the last refresh.
    last_refresh: Option<(Rectangle, Position)>,
    formulas_in_view: bool,
}

impl Session {
    pub(super) fn new(live: LiveSheet, pokes: Pokes, args: &args::Edit) -> Result<Self, CliError> {
        let sheet = args.sheet.clone().or_else(|| args.cell.as_ref()?.sheet.clone());
        let mut grid = Grid::new(find_sheet_number(&live.sheets(), sheet.as_deref())?);
        if let Some(range) = &args.cell {
            grid.cursor = range.rectangle.first;
        }
        Ok(Self {
            live,
            pokes,
            grid,
            contents: Contents::default(),
            polling: Polling::default(),
            offline: None,
            undoable: Vec::new(),
            messages: Vec::new(),
            last_refresh: None,
            formulas_in_view: false,
        })
    }

    pub(super) fn count_unsent(&self) -> usize {
        self.live.pending().count()
    }

    pub(super) fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// Handles a key. If the key makes an edit, persists the edit before returning.
    pub(super) fn press(&mut self, key: Key, layout: &Layout) -> GridAction {
        self.contents.changed.clear();
        let cell_text = self.contents.cell_text(self.grid.cursor).to_owned();
        let size = layout.visible_size(self.grid.top_left.row);
        let action;
        (self.grid, action) = self.grid.clone().press(key, size, &cell_text);
        let result = match &action {
            GridAction::Edit(operation) => self.edit(operation.clone()),
            GridAction::Undo => match self.undoable.pop() {
                Some(position) => self.edit(Operation::Undo(Undo { position })),
                None => Err("nothing to undo in this session".to_owned()),
            },
            GridAction::SwitchSheet { forward } => {
                self.switch_sheet(*forward);
                Ok(())
            }
            GridAction::None | GridAction::Quit => Ok(()),
        };
        self.grid.notice = result.err().or(self.grid.notice.take());
        action
    }

    fn edit(&mut self, operation: Operation) -> Result<(), String> {
        self.live.edit(operation).map(drop).map_err(|error| error.to_string())
    }

    fn switch_sheet(&mut self, forward: bool) {
        let sheets = self.live.sheets();
        let current = sheets.iter().position(|sheet| sheet.sheet == self.grid.sheet).unwrap_or(0);
        let last = sheets.len().saturating_sub(1);
        let next =
            if forward { current.saturating_add(1).min(last) } else { current.saturating_sub(1) };
        if let Some(sheet) = sheets.get(next).filter(|_| next != current) {
            self.grid.switch_to_sheet(sheet.sheet);
        }
    }

    /// Waits until the server reports new log entries.
    pub(super) async fn wait_for_poke(&mut self) {
        self.pokes.wait_beyond(self.live.position()).await;
    }

    /// Sends unsent edits and fetches new log entries. Returns the delay until the next sync, in
    /// milliseconds.
    pub(super) async fn sync(&mut self) -> u64 {
        let result = self.live.sync().await;
        let (polling, delay_ms) = self.polling.step(poll_event(&result), random());
        self.polling = polling;
        match result {
            Ok(report) => {
                self.offline = None;
                self.show_report(&report);
            }
            Err(error) if error.is_offline() => self.offline = Some("offline".to_owned()),
            Err(error) => self.offline = Some(error.to_string()),
        }
        delay_ms
    }

    fn show_report(&mut self, report: &SyncReport) {
        for Settlement { position, outcome, .. } in &report.settled {
            match outcome {
                EditOutcome::Rejected(rejection) => {
                    self.grid.notice = Some(format!("an edit was rejected: {}", rejection.detail));
                }
                EditOutcome::Unchanged | EditOutcome::Transformed(_) | EditOutcome::Unknown => {
                    self.undoable.extend(position);
                }
            }
        }
        self.undoable.drain(..self.undoable.len().saturating_sub(MAX_UNDO));
        for set_aside in &report.set_aside {
            let (edits, file) = (count(set_aside.edits, "edit", "edits"), set_aside.file.display());
            let message = format!(
                "the spreadsheet was restored; {edits} may be lost and are stored in {file}"
            );
            self.grid.notice = Some(message.clone());
            self.messages.push(message);
        }
        if report.reapplied > 0 {
            let edits = count(report.reapplied, "edit", "edits");
            self.grid.notice = Some(format!("the spreadsheet was restored; applied {edits} again"));
        }
    }

    /// Reads the visible cells.
    pub(super) async fn refresh(&mut self, layout: &Layout) {
        let Some(name) = self.sheet_name() else { return };
        self.grid.scroll_to_cursor(layout.visible_size(self.grid.top_left.row));
        let rectangle = self.grid.visible_cells(layout.visible_size(self.grid.top_left.row));
        match self.live.view(Some(&name), rectangle).await {
            Ok(reply) => self.show_cells(&reply, rectangle),
            // The next sync rebases the unsent edits.
            Err(LiveError::CannotRebase { .. }) => {}
            Err(error) => self.grid.notice = Some(error.to_string()),
        }
        self.contents.sheet_name = name;
        self.contents.status = self.status();
    }

    /// Returns the current sheet's name. Switches to the first sheet if another user has deleted
    /// the current one.
    fn sheet_name(&mut self) -> Option<String> {
        let sheets = self.live.sheets();
        let is_current = |sheet: &&SheetView| sheet.sheet == self.grid.sheet;
        if let Some(sheet) = sheets.iter().find(is_current) {
            return Some(sheet.name.clone());
        }
        let first = sheets.first()?;
        self.grid.switch_to_sheet(first.sheet);
        self.grid.notice = Some("the sheet was deleted".to_owned());
        Some(first.name.clone())
    }

    fn show_cells(&mut self, reply: &CellsReply, rectangle: Rectangle) {
        let cells: BTreeMap<_, _> = reply
            .cells
            .iter()
            .map(|entry| {
                let name = CellName { row: entry.row, column: entry.column };
                let align_right = matches!(entry.cell.value, Value::Number(_));
                (name, (entry.cell.text(), align_right))
            })
            .collect();
        self.formulas_in_view = reply.cells.iter().any(|entry| entry.cell.formula.is_some());
        // Exclude differences that are caused by unsent edits or by showing another rectangle.
        let others_changed = |(shown, position): (Rectangle, Position)| {
            shown == rectangle
                && position < self.live.position()
                && self.live.pending().next().is_none()
        };
        if self.last_refresh.is_some_and(others_changed) {
            let before = &self.contents.cells;
            let names: BTreeSet<_> = before.keys().chain(cells.keys()).copied().collect();
            let changed = names.into_iter().filter(|name| before.get(name) != cells.get(name));
            self.contents.changed.extend(changed);
        }
        self.contents.cells = cells;
        self.last_refresh = Some((rectangle, self.live.position()));
    }

    fn status(&self) -> String {
        let unsent = Some(self.count_unsent()).filter(|unsent| *unsent > 0);
        let unsent = unsent.map(|unsent| format!("{unsent} not sent"));
        let formulas = self.formulas_in_view.then(|| FORMULAS_NOT_CALCULATED.to_owned());
        let position = Some(self.live.position().to_string());
        let parts = [formulas, unsent, self.offline.clone(), position];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}
