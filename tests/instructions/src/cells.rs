//! Paths from cells to replies and texts.

use cellar_api::wire::{CellAt, CellsReply};
use cellar_base::position::Position;
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::{Extent, FormatLayer};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::visible_cells;

use crate::snapshots::reference_tile;
use crate::{Failure, PreparedPath};

const ROWS: u32 = 250;

fn reference_cells() -> Vec<CellAt> {
    let formats = FormatLayer::default();
    let tile = reference_tile(0, ROWS);
    visible_cells(&tile, &formats).into_iter().map(CellAt::from).collect()
}

/// From a merged tile to the body of a reply.
pub(crate) fn cells_to_json() -> Result<PreparedPath, Failure> {
    let (tile, formats) = (reference_tile(0, ROWS), FormatLayer::default());
    Ok(Box::new(move || {
        let reply = CellsReply {
            sheet: SheetId::FIRST,
            name: "Sheet1".to_owned(),
            position: Position::FIRST,
            incarnation: 1,
            extent: Extent::default(),
            formats: Vec::new(),
            formats_truncated: false,
            cells: visible_cells(&tile, &formats).into_iter().map(CellAt::from).collect(),
            next: None,
        };
        Ok(serde_json::to_vec(&reply)?.len())
    }))
}

pub(crate) fn display_cells() -> Result<PreparedPath, Failure> {
    const FORMATS: [&str; 4] = ["General", "0.00", "#,##0.0", "yyyy-mm-dd"];
    let mut cells = reference_cells();
    for (index, cell) in cells.iter_mut().enumerate() {
        if matches!(cell.cell.value, Value::Number(_)) {
            cell.cell.format = FORMATS.get(index % FORMATS.len()).map(|code| (*code).to_owned());
        }
    }
    Ok(Box::new(move || Ok(cells.iter().map(|cell| cell.cell.text().len()).sum())))
}
