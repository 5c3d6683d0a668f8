//! Reads by clients during faults. At the end of the run, the checks compare the results with the
//! log.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::{CellsQuery, LogError, Logs, SheetName};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::CellAt;

use crate::editor::{Editor, is_temporary};
use crate::witness::CellsSeen;

/// Reads all cells of a sheet at the given position, page by page.
///
/// # Errors
/// Returns the same errors as [`Logs::cells`].
pub(crate) async fn cells(
    logs: &Logs,
    log: LogId,
    position: Position,
    sheet: SheetId,
) -> Result<Vec<CellAt>, LogError> {
    let mut cells = Vec::new();
    let mut first_cell = None;
    loop {
        let query = CellsQuery {
            sheet: SheetName::Number(sheet),
            rectangle: Rectangle::EVERYTHING,
            at: Some(position),
            from: first_cell,
            min_position: None,
            with_texts: false,
        };
        let page = logs.cells(log, &query).await?;
        cells.extend(page.cells);
        first_cell = page.next;
        if first_cell.is_none() {
            return Ok(cells);
        }
    }
}

/// Loads the log or reads its cells, once and without a retry.
pub(crate) async fn read(editor: &Editor) {
    let at = editor.base();
    if editor.process.random().draw_below(2) == 0 || !editor.witness.wants_cells() {
        load(editor).await;
    } else {
        read_cells(editor, at).await;
    }
}

async fn load(editor: &Editor) {
    let log = editor.log;
    let load = |server: crate::fleet::Server| async move { server.logs.load(log, None).await };
    match editor.fleet.ask(&editor.process, "load".to_owned(), load).await {
        Some(Ok(loaded)) => editor.witness.record_read(log, &loaded.entries),
        Some(Err(error)) => check_temporary(editor, "load", &error),
        None => {}
    }
}

async fn read_cells(editor: &Editor, at: Position) {
    let (log, sheet) = (editor.log, SheetId::FIRST);
    let read = move |server: crate::fleet::Server| async move {
        cells(&server.logs, log, at, sheet).await
    };
    match editor.fleet.ask(&editor.process, format!("cells at {at}"), read).await {
        Some(Ok(cells)) => editor.witness.record_cells(CellsSeen { log, at, sheet, cells }),
        Some(Err(error)) => check_temporary(editor, "cells", &error),
        None => {}
    }
}

fn check_temporary(editor: &Editor, what: &str, error: &LogError) {
    editor.process.event(format_args!("{what}: {error}"));
    if !is_temporary(error) {
        let name = editor.process.name();
        editor
            .process
            .world()
            .report_violation(format_args!("{name} could not read ({what}): {error}"));
    }
}
