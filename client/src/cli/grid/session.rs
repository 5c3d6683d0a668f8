//! The live spreadsheet shown in the grid.

use std::collections::BTreeMap;
use std::future::pending;

use cellar_api::polling::Polling;
use cellar_api::wire::{CellAt, CellsReply, SheetView};
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{Operation, Undo};

use super::super::args;
use super::super::edit::find_sheet_number;
use super::super::error::CliError;
use super::super::output::count;
use super::frame::{Contents, Layout, VisibleCell};
use super::key::Key;
use super::stack::StackFinder;
use super::state::{Grid, GridAction, SheetDirection};
use crate::cli::table::mark_stale;
use crate::client::random;
use crate::live::{
    EditOutcome, LiveError, LiveSheet, SetAsideEdits, Settlement, SyncReport, poll_event,
};
use crate::{Client, Pokes};

const MAX_UNDOABLE_EDITS: usize = 1_000;

pub(super) struct Session {
    live: LiveSheet,
    pokes: Pokes,
    /// `None` if the user passed the URL or the token.
    finder: Option<StackFinder>,
    pub(super) grid: Grid,
    pub(super) contents: Contents,
    polling: Polling,
    /// Why the last sync failed, or `None` if it succeeded.
    offline: Option<String>,
    /// Positions of the session's edits that the user can undo, oldest first.
    undoable: Vec<Position>,
    /// Messages to print after the grid is closed.
    messages: Vec<String>,
    last_refresh: Option<(Rectangle, Position)>,
}

impl Session {
    pub(super) fn new(
        live: LiveSheet,
        pokes: Pokes,
        finder: Option<StackFinder>,
        args: &args::Edit,
    ) -> Result<Self, CliError> {
        let sheet = args.sheet.clone().or_else(|| args.cell.as_ref()?.sheet.clone());
        let mut grid = Grid::new(find_sheet_number(&live.sheets(), sheet.as_deref())?);
        if let Some(range) = &args.cell {
            grid.cursor = range.rectangle.first;
        }
        Ok(Self {
            live,
            pokes,
            finder,
            grid,
            contents: Contents::default(),
            polling: Polling::default(),
            offline: None,
            undoable: Vec::new(),
            messages: Vec::new(),
            last_refresh: None,
        })
    }

    pub(super) fn count_unsent(&self) -> usize {
        self.live.pending().count()
    }

    pub(super) fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// If the key makes an edit, the edit is saved on disk before this function returns.
    pub(super) fn press(&mut self, key: Key, layout: &Layout) -> GridAction {
        self.contents.changed.clear();
        let cell_text = self.contents.text_to_edit(self.grid.cursor).to_owned();
        let visible_size = layout.visible_size(self.grid.top_left.row);
        let (grid, action) = self.grid.clone().press(key, visible_size, &cell_text);
        self.grid = grid;
        if let Err(problem) = self.perform(&action) {
            self.grid.notice = Some(problem);
        }
        action
    }

    fn perform(&mut self, action: &GridAction) -> Result<(), String> {
        match action {
            GridAction::Edit(operation) => self.edit(operation.clone()),
            GridAction::Undo => self.undo_newest_edit(),
            GridAction::SwitchSheet(direction) => {
                self.switch_sheet(*direction);
                Ok(())
            }
            GridAction::None | GridAction::Quit => Ok(()),
        }
    }

    fn undo_newest_edit(&mut self) -> Result<(), String> {
        match self.undoable.pop() {
            Some(position) => self.edit(Operation::Undo(Undo { position })),
            None => Err("nothing to undo in this session".to_owned()),
        }
    }

    fn edit(&mut self, operation: Operation) -> Result<(), String> {
        self.live.edit(operation).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn switch_sheet(&mut self, direction: SheetDirection) {
        let sheets = self.live.sheets();
        let is_current = |sheet: &SheetView| sheet.sheet == self.grid.sheet;
        let current_index = sheets.iter().position(is_current).unwrap_or(0);
        let neighbor_index = match direction {
            SheetDirection::Next => current_index.checked_add(1),
            SheetDirection::Previous => current_index.checked_sub(1),
        };
        if let Some(neighbor) = neighbor_index.and_then(|index| sheets.get(index)) {
            self.grid.switch_to_sheet(neighbor.sheet);
        }
    }

    pub(super) fn url(&self) -> &str {
        self.live.client().url()
    }

    /// Waits for a poke. While the server does not respond, also waits until the stack is found at
    /// another URL.
    pub(super) async fn wait_for_news(&mut self) {
        let Self { live, pokes, finder, offline, .. } = self;
        let moved = async {
            match finder {
                Some(finder) if offline.is_some() => finder.wait_until_moved(live.client()).await,
                Some(_) | None => pending().await,
            }
        };
        let client = tokio::select! {
            _ = pokes.wait_beyond(live.position()) => None,
            client = moved => Some(client),
        };
        if let Some(client) = client {
            self.use_client(&client);
        }
    }

    /// Returns whether the stack was found at another URL.
    fn follow_stack(&mut self) -> bool {
        let client = self.finder.as_mut().and_then(|finder| finder.find(self.live.client()));
        client.is_some_and(|client| self.use_client(&client))
    }

    fn use_client(&mut self, client: &Client) -> bool {
        let is_used = self.live.set_client(client);
        if is_used {
            self.pokes = self.live.spreadsheet().pokes();
        }
        is_used
    }

    /// Returns the delay until the next sync, in milliseconds.
    pub(super) async fn sync(&mut self) -> u64 {
        let mut result = self.live.sync().await;
        if result.is_err() && self.follow_stack() {
            result = self.live.sync().await;
        }
        let (polling, delay_ms) = self.polling.step(poll_event(&result), random());
        self.polling = polling;
        match result {
            Ok(report) => {
                self.offline = None;
                self.apply_sync_report(&report);
            }
            Err(error) if error.is_offline() => self.offline = Some("offline".to_owned()),
            Err(error) => self.offline = Some(error.to_string()),
        }
        delay_ms
    }

    fn apply_sync_report(&mut self, report: &SyncReport) {
        for settlement in &report.settled {
            self.apply_settlement(settlement);
        }
        self.trim_undoable();
        for set_aside in &report.set_aside {
            self.warn_of_lost_edits(set_aside);
        }
        if report.reapplied > 0 {
            let edits = count(report.reapplied, "edit", "edits");
            self.grid.notice = Some(format!("the spreadsheet was restored; applied {edits} again"));
        }
    }

    fn apply_settlement(&mut self, settlement: &Settlement) {
        match &settlement.outcome {
            EditOutcome::Rejected(rejection) => {
                self.grid.notice = Some(format!("an edit was rejected: {}", rejection.detail));
            }
            EditOutcome::Transformed(committed) if committed.is_empty() => {
                self.grid.notice =
                    Some("an edit had no effect: others have deleted its target".to_owned());
            }
            EditOutcome::Unchanged | EditOutcome::Transformed(_) | EditOutcome::Unknown => {
                self.undoable.extend(settlement.position);
            }
        }
    }

    fn warn_of_lost_edits(&mut self, set_aside: &SetAsideEdits) {
        let (edits, file) = (count(set_aside.edits, "edit", "edits"), set_aside.file.display());
        let message =
            format!("the spreadsheet was restored; {edits} may be lost and are stored in {file}");
        self.grid.notice = Some(message.clone());
        self.messages.push(message);
    }

    fn trim_undoable(&mut self) {
        let excess_count = self.undoable.len().saturating_sub(MAX_UNDOABLE_EDITS);
        self.undoable.drain(..excess_count);
    }

    pub(super) async fn refresh(&mut self, layout: &Layout) {
        let Some(sheet_name) = self.sheet_name() else { return };
        self.grid.scroll_to_cursor(layout.visible_size(self.grid.top_left.row));
        let visible_cells = self.grid.visible_cells(layout.visible_size(self.grid.top_left.row));
        match self.live.view(Some(&sheet_name), visible_cells).await {
            Ok(reply) => self.show_cells(&reply, visible_cells),
            // Keep showing the old cells until the next sync has rebased the unsent edits.
            Err(LiveError::CannotRebase { .. }) => {}
            Err(error) => self.grid.notice = Some(error.to_string()),
        }
        self.contents.sheet_name = sheet_name;
        self.contents.status = self.status();
    }

    /// Switches to the first sheet if another user has deleted the current sheet.
    fn sheet_name(&mut self) -> Option<String> {
        let sheets = self.live.sheets();
        let is_current = |sheet: &&SheetView| sheet.sheet == self.grid.sheet;
        if let Some(current_sheet) = sheets.iter().find(is_current) {
            return Some(current_sheet.name.clone());
        }
        let first_sheet = sheets.first()?;
        self.grid.switch_to_sheet(first_sheet.sheet);
        self.grid.notice = Some("the sheet was deleted".to_owned());
        Some(first_sheet.name.clone())
    }

    fn show_cells(&mut self, reply: &CellsReply, rectangle: Rectangle) {
        let new_cells = to_visible_cells(reply);
        if self.are_differences_by_others(rectangle) {
            let old_cells = &self.contents.cells;
            for cell_name in old_cells.keys().chain(new_cells.keys()) {
                if old_cells.get(cell_name) != new_cells.get(cell_name) {
                    self.contents.changed.insert(*cell_name);
                }
            }
        }
        self.contents.cells = new_cells;
        self.last_refresh = Some((rectangle, self.live.position()));
    }

    /// Returns `false` after the user has scrolled and while edits are unsent, because scrolling
    /// and the user's own edits also change the displayed cells.
    fn are_differences_by_others(&self, rectangle: Rectangle) -> bool {
        let Some((shown_rectangle, shown_position)) = self.last_refresh else { return false };
        let has_unsent_edits = self.live.pending().next().is_some();
        shown_rectangle == rectangle && shown_position < self.live.position() && !has_unsent_edits
    }

    fn status(&self) -> String {
        let mut parts = Vec::new();
        let unsent_count = self.count_unsent();
        if unsent_count > 0 {
            parts.push(format!("{unsent_count} not sent"));
        }
        parts.extend(self.offline.clone());
        parts.push(self.live.position().to_string());
        parts.join(" · ")
    }
}

fn to_visible_cells(reply: &CellsReply) -> BTreeMap<CellName, VisibleCell> {
    let mut visible_cells = BTreeMap::new();
    for CellAt { row, column, cell, stale, note, .. } in &reply.cells {
        let cell_name = CellName { row: *row, column: *column };
        let is_right_aligned = matches!(cell.value, Value::Number(_));
        let text = if *stale { mark_stale(&cell.text()) } else { cell.text() };
        let (formula, note) = (cell.formula.clone(), note.clone());
        visible_cells.insert(cell_name, VisibleCell { text, formula, note, is_right_aligned });
    }
    visible_cells
}
