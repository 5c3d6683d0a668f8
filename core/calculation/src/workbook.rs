//! The sheets, defined names, time and random seed that a calculation uses.

use std::collections::BTreeMap;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_formula::reference::{SheetNames, quoted_sheet_name};
use cellar_functions::limits::Limits;
use cellar_functions::{ArrayMode, DateOrder, EvaluationContext};
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, SheetArea};
use cellar_sheet::metadata::{Extent, FormatLayer, WorkbookMetadata};

/// Start of the note of a formula in a cycle.
pub(crate) const CYCLE_NOTE: &str = "the formula depends on itself";

/// Identifies a cell in a spreadsheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Row and column.
    pub cell: CellName,
}

/// The sheets, defined names, time and random seed of a spreadsheet at one position.
#[derive(Debug, Clone, PartialEq)]
pub struct CalculatedWorkbook {
    /// Sheets in tab order, with their names and used ranges.
    sheets: Vec<(SheetId, String, Extent)>,
    /// Number formats of ranges, for the sheets that have any.
    formats: BTreeMap<SheetId, FormatLayer>,
    /// Indices in `sheets`, keyed by sheet number.
    indices: BTreeMap<SheetId, u32>,
    /// Formulas of defined names, keyed by uppercase name.
    names: BTreeMap<String, String>,
    /// Time of the newest entry at the position, in seconds since the Unix epoch.
    time_s: u64,
    /// Seed for random functions such as `RAND`.
    seed: u64,
}

impl CalculatedWorkbook {
    /// Returns the seed for random functions at a position of a log.
    #[must_use]
    pub fn seed(log: LogId, position: Position) -> u64 {
        let bytes = log.as_bytes().iter().map(|byte| u64::from(*byte));
        bytes.chain([position.pack()]).fold(0, |seed, part| mixed(seed ^ mixed(part)))
    }

    /// Creates the workbook for a calculation. `time_s` is the time of the newest entry at the
    /// position, in seconds since the Unix epoch. `NOW` and `TODAY` are computed from it. `seed`
    /// must be the same for all readers of the position.
    #[must_use]
    pub fn new(metadata: &WorkbookMetadata, time_s: u64, seed: u64) -> Self {
        let sheets: Vec<_> = metadata
            .tabs
            .order()
            .iter()
            .filter_map(|id| {
                let name = metadata.tabs.name(*id)?.to_owned();
                Some((*id, name, metadata.sheets.get(id)?.extent))
            })
            .collect();
        let indices = (0..).zip(&sheets).map(|(index, (id, ..))| (*id, index)).collect();
        let named = metadata.names.iter();
        let names = named
            .map(|named| (named.name().to_uppercase(), named.formula(&metadata.tabs)))
            .collect();
        let formats =
            metadata.sheets.iter().filter(|(_, sheet)| !sheet.formats.records().is_empty());
        let formats = formats.map(|(id, sheet)| (*id, sheet.formats.clone())).collect();
        Self { sheets, formats, indices, names, time_s, seed }
    }

    pub(crate) fn sheet_count(&self) -> u32 {
        u32::try_from(self.sheets.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn sheet_at(&self, index: u32) -> Option<&(SheetId, String, Extent)> {
        self.sheets.get(usize::try_from(index).ok()?)
    }

    pub(crate) fn index_of(&self, sheet: SheetId) -> Option<u32> {
        self.indices.get(&sheet).copied()
    }

    pub(crate) fn index_named(&self, name: &str) -> Option<u32> {
        let lower = name.to_lowercase();
        let position =
            self.sheets.iter().position(|(_, other, _)| other.to_lowercase() == lower)?;
        u32::try_from(position).ok()
    }

    pub(crate) fn extent(&self, sheet: SheetId) -> Extent {
        let sheet = self.index_of(sheet).and_then(|index| self.sheet_at(index));
        sheet.map_or(Extent::default(), |(_, _, extent)| *extent)
    }

    /// Extends the used range of a sheet so that it contains an area.
    pub(crate) fn extend_used_range(&mut self, area: &SheetArea) {
        let index = self.index_of(area.sheet).and_then(|index| usize::try_from(index).ok());
        if let Some((_, _, extent)) = index.and_then(|index| self.sheets.get_mut(index)) {
            extent.rows = extent.rows.max(area.cells.last.row.saturating_add(1));
            extent.columns = extent.columns.max(area.cells.last.column.saturating_add(1));
        }
    }

    pub(crate) fn has_range_formats(&self, sheet: SheetId) -> bool {
        self.formats.contains_key(&sheet)
    }

    /// Returns the number format of the most recently formatted range that contains a cell.
    pub(crate) fn range_format(&self, key: CellKey) -> Option<&str> {
        self.formats.get(&key.sheet)?.format_at(key.cell.row, key.cell.column)
    }

    pub(crate) fn named_formula(&self, name: &str) -> Option<&str> {
        self.names.get(&name.to_uppercase()).map(String::as_str)
    }

    /// Returns everything on which the formula of a cell depends besides cells.
    pub(crate) fn evaluation_context(&self, key: CellKey, limits: Limits) -> EvaluationContext {
        EvaluationContext {
            sheet: self.index_of(key.sheet).unwrap_or(0),
            cell: key.cell,
            now: self.now(),
            random_seed: self.seed_of(key),
            date_order: DateOrder::default(),
            array_mode: ArrayMode::Spill,
            limits,
        }
    }

    /// Returns the time as the number of days since 1899-12-30.
    fn now(&self) -> f64 {
        const SECONDS_PER_DAY: u64 = 86_400;
        /// Number of days from 1899-12-30 to 1970-01-01.
        const EPOCH_DAYS: f64 = 25_569.0;
        let days = u32::try_from(self.time_s / SECONDS_PER_DAY).unwrap_or(u32::MAX);
        let seconds = u32::try_from(self.time_s % SECONDS_PER_DAY).unwrap_or(0);
        EPOCH_DAYS + f64::from(days) + f64::from(seconds) / 86_400.0
    }

    /// Returns the random seed for the formula in a cell. Every cell has a different seed.
    fn seed_of(&self, key: CellKey) -> u64 {
        let parts = [u64::from(key.sheet.0), u64::from(key.cell.row), u64::from(key.cell.column)];
        parts.into_iter().fold(self.seed, |seed, part| mixed(seed ^ mixed(part)))
    }
}

/// Mixes the bits of a number like one step of the SplitMix64 generator.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl CalculatedWorkbook {
    /// Returns the reference to a cell as it would be written in a formula in `from`.
    pub(crate) fn cell_text(&self, from: CellKey, key: CellKey) -> String {
        let sheet = self.index_of(key.sheet).and_then(|index| self.sheet_at(index));
        match sheet {
            Some((_, name, _)) if key.sheet != from.sheet => {
                format!("{}!{}", quoted_sheet_name(name), key.cell)
            }
            _ => key.cell.to_string(),
        }
    }

    /// Returns a message that lists the cells of a cycle, starting with the first one.
    pub(crate) fn cycle_note<'a>(&self, mut cycle: impl Iterator<Item = &'a CellKey>) -> String {
        /// Maximum number of cells that the message lists.
        const MAX_SHOWN: usize = 8;
        let Some(first) = cycle.next() else { return String::new() };
        let mut cells = vec![self.cell_text(*first, *first)];
        let mut others = 0_usize;
        for key in cycle {
            if cells.len() < MAX_SHOWN {
                cells.push(self.cell_text(*first, *key));
            } else {
                others += 1;
            }
        }
        if others > 0 {
            cells.push(format!("{others} more"));
        }
        let own = self.cell_text(*first, *first);
        format!("{CYCLE_NOTE}: {} → {own}", cells.join(" → "))
    }
}

impl SheetNames for CalculatedWorkbook {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.sheet_at(self.index_named(name)?).map(|(id, ..)| *id)
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        self.sheet_at(self.index_of(sheet)?).map(|(_, name, _)| name.as_str())
    }
}
