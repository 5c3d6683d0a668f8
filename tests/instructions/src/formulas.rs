//! Paths through formulas.

use cellar_calculation::{CalculatedWorkbook, Calculation, CalculationStep, CellWindow};
use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, Template};
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::{SheetMetadata, SheetNumbers, Tabs, WorkbookMetadata};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::merge::Window;
use cellar_snapshot::outdated::OutdatedAreas;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

use crate::{Failure, PreparedPath};

const ROWS: u32 = 1_000;
const VALUE_COLUMNS: u32 = 2;
const COLUMNS: u32 = 5;

fn formula(row: u32, column: u32) -> String {
    let line = row + 1;
    match column {
        2 => format!("=A{line}*B{line}"),
        3 => format!("=IF(B{line}>10,ROUND(C{line}/3,2),\"low\")"),
        _ => format!("=SUM($A$1:A{line})"),
    }
}

pub(crate) fn parse_formulas() -> Result<PreparedPath, Failure> {
    let texts: Vec<String> = (0..ROWS).map(|row| formula(row, 2 + row % 3)).collect();
    Ok(Box::new(move || {
        let mut reference_count = 0;
        for text in &texts {
            reference_count += Formula::parse(text, &NoSheets)?.references().count();
        }
        Ok(reference_count)
    }))
}

pub(crate) fn calculate_formulas() -> Result<PreparedPath, Failure> {
    let templates = (VALUE_COLUMNS..COLUMNS).map(|column| {
        let cell = CellName { row: 0, column };
        Ok(Template::of(&Formula::parse(&formula(0, column), &NoSheets)?, cell))
    });
    let templates: Vec<Template> = templates.collect::<Result<_, Failure>>()?;
    Ok(Box::new(move || {
        let workbook = CalculatedWorkbook::new(&metadata(), 0, 1);
        let mut calculation = Calculation::new(workbook, OutdatedAreas::everything());
        let window = Window { rows: 0..ROWS, columns: VALUE_COLUMNS..COLUMNS };
        calculation.start_area(SheetId::FIRST, &window);
        loop {
            match calculation.step() {
                CalculationStep::Done => break,
                CalculationStep::LongTexts(_) => return Err("there are no long texts".into()),
                CalculationStep::Cells(windows) => {
                    for asked in windows {
                        let tile = tile(&templates, &asked)?;
                        calculation.supply(&asked, tile);
                    }
                }
            }
        }
        let results = calculation.results_in(SheetId::FIRST, &window);
        Ok(results.count())
    }))
}

fn metadata() -> WorkbookMetadata {
    let mut metadata = WorkbookMetadata::default();
    let tabs = vec![(SheetId::FIRST, "Sheet1".to_owned())];
    metadata.tabs = Tabs::from_parts(tabs, SheetNumbers::default());
    let mut sheet = SheetMetadata::default();
    (sheet.extent.rows, sheet.extent.columns) = (ROWS, COLUMNS);
    metadata.sheets.insert(SheetId::FIRST, sheet);
    metadata
}

fn tile(templates: &[Template], CellWindow { window, .. }: &CellWindow) -> Result<Tile, Failure> {
    let mut tile = Tile::default();
    for index in window.columns.start..window.columns.end.min(COLUMNS) {
        let mut column = TileColumn::new(index);
        for row in window.rows.start..window.rows.end.min(ROWS) {
            let template = index.checked_sub(VALUE_COLUMNS).map(usize::try_from).transpose()?;
            match template.and_then(|template| templates.get(template)) {
                Some(template) => {
                    column.values.push(row, TileValue::Empty);
                    column.templates.push(row, template.encoded());
                }
                None => {
                    column.values.push(row, TileValue::Number(f64::from(row * 7 % 97 + index)));
                }
            }
        }
        if !column.is_empty() {
            tile.columns.push(column);
        }
    }
    Ok(tile)
}
