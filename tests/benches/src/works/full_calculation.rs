//! The full calculation of a large sheet: five columns of values and five columns of formulas, which
//! a snapshot worker calculates tile by tile.

use cellar_calculation::{
    CalculatedValue, CalculatedWorkbook, Calculation, CalculationStep, CellWindow,
};
use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, Template};
use cellar_sheet::a1::CellName;
use cellar_sheet::metadata::{SheetMetadata, SheetNumbers, Tabs, WorkbookMetadata};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::merge::Window;
use cellar_snapshot::outdated::OutdatedAreas;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

use crate::clock::Stopwatch;
use crate::report::Row;
use crate::{Failure, Options, peak_memory, peers};

/// Number of rows of the look-up table.
pub(crate) const TABLE_ROWS: u32 = 100;
/// Columns with formulas.
pub(crate) const FORMULAS: std::ops::Range<u32> = 5..10;
/// Columns of the look-up table.
const TABLE: std::ops::Range<u32> = 11..13;
/// Rows of the tiles of a worker.
const TILE_ROWS: u32 = 8_192;

/// A value of the sheet.
pub(crate) enum Input {
    Number(f64),
    Text(String),
}

/// Returns the value in a cell, or `None` if the cell is empty or has a formula.
pub(crate) fn input(row: u32, column: u32) -> Option<Input> {
    let number = |number: u32| Some(Input::Number(f64::from(number)));
    match column {
        0 => number(row * 7 % 1_000 + 1),
        1 => Some(Input::Number(f64::from(row % 977) / 8.0)),
        2 => number(row % 23),
        3 => Some(Input::Text(format!("item {}", row % 97))),
        4 => number(row * 31 % TABLE_ROWS),
        11 if row < TABLE_ROWS => number(row),
        12 if row < TABLE_ROWS => Some(Input::Number(f64::from(row) * 1.5)),
        _ => None,
    }
}

/// Returns the formula in a cell of a column with formulas.
pub(crate) fn formula(row: u32, column: u32) -> String {
    let line = row + 1;
    match column {
        5 => format!("=A{line}*B{line}"),
        6 => format!("=IF(C{line}>10,C{line}*1.1,0)"),
        7 => format!("=D{line}&\"-\"&A{line}"),
        8 if row == 0 => "=A1".to_owned(),
        8 => format!("=I{row}+A{line}"),
        _ => format!("=VLOOKUP(E{line},$L$1:$M${TABLE_ROWS},2,FALSE)"),
    }
}

/// Returns the last running total.
pub(crate) fn expected_total(rows: u32) -> f64 {
    (0..rows).map(|row| f64::from(row * 7 % 1_000 + 1)).sum()
}

pub(crate) fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let rows = options.rows;
    let formulas = f64::from(rows) * f64::from(FORMULAS.end - FORMULAS.start);
    let growing_sum = |line: u32| format!("=SUM($A$1:A{line})");
    let growing_s = calculated(rows, &|row, _| growing_sum(row + 1), 8..9)?.cpu_s;
    let cpu_s = calculated(rows, &formula, FORMULAS)?.cpu_s;
    let mut seconds = Row::new("full calculation", "CPU s", cpu_s);
    if rows == 1_000_000 {
        seconds = seconds.at_most(2.5);
    }
    let peak_mb = peak_memory::of("formulas", rows)?.unwrap_or_default();
    let mut memory = Row::new("full calculation", "MB", peak_mb).at_most(300.0);
    for peer in peers::full_calculation::measured(rows)? {
        seconds = seconds.beside(peer.name, Some(peer.cpu_s));
        memory = memory.beside(peer.name, peer.peak_mb);
    }
    let nanoseconds = cpu_s / formulas * 1e9;
    let growing_ns = growing_s / f64::from(rows) * 1e9;
    Ok(vec![
        seconds,
        memory,
        Row::new("full calculation", "CPU ns a formula", nanoseconds),
        Row::new("growing sums", "CPU ns a formula", growing_ns),
    ])
}

/// Calculates all formulas and discards the results.
pub(crate) fn calculate_to_nowhere(rows: u32) -> Result<(), Failure> {
    calculated(rows, &formula, FORMULAS).map(drop)
}

struct Calculated {
    cpu_s: f64,
}

fn calculated(
    rows: u32,
    formula: &dyn Fn(u32, u32) -> String,
    columns: std::ops::Range<u32>,
) -> Result<Calculated, Failure> {
    let sheet = SheetId::FIRST;
    let templates = Templates::new(formula, columns.clone())?;
    let mut calculation = {
        let workbook = CalculatedWorkbook::new(&metadata(rows), 0, 1);
        Calculation::new(workbook, OutdatedAreas::everything())
    };
    let mut clock = Stopwatch::default();
    let (mut count, mut last) = (0_u64, 0.0);
    for first_row in (0..rows).step_by(TILE_ROWS as usize) {
        let window =
            Window { rows: first_row..rows.min(first_row + TILE_ROWS), columns: columns.clone() };
        clock.run(|| calculation.start_area(sheet, &window));
        loop {
            match clock.run(|| calculation.step()) {
                CalculationStep::Done => break,
                CalculationStep::LongTexts(_) => return Err("there are no long texts".into()),
                CalculationStep::Cells(windows) => {
                    for asked in windows {
                        let tile = templates.tile(rows, &asked);
                        clock.run(|| calculation.supply(&asked, tile));
                    }
                }
            }
        }
        clock.run(|| {
            for result in calculation.results_in(sheet, &window) {
                count += 1;
                if let (8, CalculatedValue::Number(number)) = (result.cell.column, result.value) {
                    last = number;
                }
            }
        });
    }
    if count != u64::from(rows) * u64::from(columns.end - columns.start) {
        return Err(format!("{count} formulas were calculated").into());
    }
    if last != expected_total(rows) {
        return Err(format!("the last total is {last}").into());
    }
    Ok(Calculated { cpu_s: clock.total_s() })
}

fn metadata(rows: u32) -> WorkbookMetadata {
    let mut metadata = WorkbookMetadata::default();
    let tabs = vec![(SheetId::FIRST, "Sheet1".to_owned())];
    metadata.tabs = Tabs::from_parts(tabs, SheetNumbers::default());
    let mut sheet = SheetMetadata::default();
    (sheet.extent.rows, sheet.extent.columns) = (rows, TABLE.end);
    metadata.sheets.insert(SheetId::FIRST, sheet);
    metadata
}

/// The formulas of the first row and of all others, by column.
struct Templates {
    columns: std::ops::Range<u32>,
    templates: Vec<[Template; 2]>,
}

impl Templates {
    fn new(
        formula: &dyn Fn(u32, u32) -> String,
        columns: std::ops::Range<u32>,
    ) -> Result<Self, Failure> {
        let template = |row: u32, column: u32| -> Result<Template, Failure> {
            let parsed = Formula::parse(&formula(row, column), &NoSheets)?;
            Ok(Template::of(&parsed, CellName { row, column }))
        };
        let of_column = |column| Ok([template(0, column)?, template(1, column)?]);
        let templates = columns.clone().map(of_column).collect::<Result<_, Failure>>()?;
        Ok(Self { columns, templates })
    }

    fn tile(&self, rows: u32, CellWindow { window, .. }: &CellWindow) -> Tile {
        let mut tile = Tile::default();
        for index in window.columns.clone() {
            let mut column = TileColumn::new(index);
            for row in window.rows.start..window.rows.end.min(rows) {
                if let Some([first, others]) = self.of_column(index) {
                    let template = if row == 0 { first } else { others };
                    column.values.push(row, TileValue::Empty);
                    column.templates.push(row, template.encoded());
                    continue;
                }
                match input(row, index) {
                    Some(Input::Number(number)) => {
                        column.values.push(row, TileValue::Number(number));
                    }
                    Some(Input::Text(text)) => column.values.push_text(row, &text),
                    None => {}
                }
            }
            if !column.is_empty() {
                tile.columns.push(column);
            }
        }
        tile
    }

    fn of_column(&self, column: u32) -> Option<&[Template; 2]> {
        self.templates.get(column.checked_sub(self.columns.start)? as usize)
    }
}
