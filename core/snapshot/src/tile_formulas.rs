//! The formulas of a tile in the tile index.

use std::collections::HashSet;

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::saturate::{saturate_u32, to_u64};
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{MAX_SHEET_READ_AREAS, MAX_TILE_READ_AREAS};
use cellar_formula::changes::MovedLines;
use cellar_formula::expression::FormulaTraits;
use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, ReadAreas, Template, TemplateRun};
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::operation::SheetId;

/// The formulas of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
#[cbor(array)]
pub struct TileFormulas {
    /// Number of formulas.
    #[n(0)]
    pub count: u32,
    /// The cells that the formulas read, in the coordinates of the level.
    #[cbor(n(1), with = "read_areas")]
    pub reads: ReadAreas,
}

impl TileFormulas {
    /// Returns the formulas of a tile of a sheet. `corner` is the top left cell of the tile.
    #[must_use]
    pub fn of_tile(tile: &Tile, corner: CellName, sheet: SheetId) -> Self {
        let mut reads = ReadAreas::default();
        let mut seen = HashSet::new();
        let runs = formula_runs(tile, corner);
        for run in &runs {
            if seen.insert(run.template.encoded()) {
                reads.add_traits(run.template.traits());
            }
            reads.add_run(&run.template_run(sheet), MAX_TILE_READ_AREAS);
        }
        Self { count: saturate_u32(tile.formula_count()), reads }
    }

    /// Returns formulas of which only the number is known.
    #[must_use]
    pub fn counted(count: u32) -> Self {
        let mut reads = ReadAreas::default();
        if count > 0 {
            reads.add_traits(FormulaTraits::ANY_INPUT.with(FormulaTraits::UNLISTED_AREAS));
        }
        Self { count, reads }
    }

    /// Returns the stored form as numbers.
    #[must_use]
    pub fn numbers(&self) -> Vec<u32> {
        let first = [self.count, u32::from(self.reads.traits().bits())];
        first.into_iter().chain(self.reads.numbers()).collect()
    }

    /// Returns the formulas with this stored form, or `None` if it is malformed.
    #[must_use]
    pub fn from_numbers(numbers: &[u32]) -> Option<Self> {
        let (&[count, bits], areas) = numbers.split_first_chunk()?;
        let traits = FormulaTraits::from_bits(u16::try_from(bits).ok()?)?;
        let reads = ReadAreas::from_numbers(traits, areas, MAX_TILE_READ_AREAS)?;
        Some(Self { count, reads })
    }

    /// Returns the same formulas after rows and columns have moved, if their templates stay the
    /// same.
    pub(crate) fn moved(&self, moves: &MovedLines) -> Self {
        Self { count: self.count, reads: self.reads.moved(moves) }
    }
}

/// Consecutive formulas of a column with the same template.
#[derive(Debug, Clone)]
pub(crate) struct FormulaRun {
    pub(crate) template: Template,
    /// Cells of one column, in the coordinates of the level.
    pub(crate) cells: Rectangle,
}

impl FormulaRun {
    pub(crate) fn template_run(&self, sheet: SheetId) -> TemplateRun<'_> {
        let Rectangle { first, last } = self.cells;
        TemplateRun { template: &self.template, sheet, first, last_row: last.row }
    }
}

/// Returns the runs of formulas of a tile. `corner` is the top left cell of the tile.
pub(crate) fn formula_runs(tile: &Tile, corner: CellName) -> Vec<FormulaRun> {
    let mut runs = Vec::new();
    for column in &tile.columns {
        let first = CellName { column: corner.column.saturating_add(column.index), ..corner };
        add_template_runs(column, first, &mut runs);
        add_text_runs(column, first, &mut runs);
    }
    runs
}

/// `first` is the cell of the column in the top row of the tile.
fn add_template_runs(column: &TileColumn, first: CellName, runs: &mut Vec<FormulaRun>) {
    let mut templates = column.templates.iter().peekable();
    while let Some((first_row, encoded)) = templates.next() {
        let mut last_row = first_row;
        let continues_run = |(row, next): &(u32, &str), last_row: u32| {
            *row == last_row.saturating_add(1) && *next == encoded
        };
        while let Some((row, _)) = templates.next_if(|next| continues_run(next, last_row)) {
            last_row = row;
        }
        if let Ok(template) = Template::decode(encoded.to_owned()) {
            runs.push(FormulaRun { template, cells: cells_of_run(first, first_row, last_row) });
        }
    }
}

/// Texts that are formulas are in tiles of older releases.
fn add_text_runs(column: &TileColumn, first: CellName, runs: &mut Vec<FormulaRun>) {
    for (row, text) in column.formulas.iter() {
        if let Ok(formula) = Formula::parse(text, &NoSheets) {
            let cells = cells_of_run(first, row, row);
            runs.push(FormulaRun { template: Template::of(&formula, cells.first), cells });
        }
    }
}

/// Rows are relative to `first`.
fn cells_of_run(first: CellName, first_row: u32, last_row: u32) -> Rectangle {
    let cell = |row: u32| CellName { row: first.row.saturating_add(row), ..first };
    Rectangle { first: cell(first_row), last: cell(last_row) }
}

/// Encodes areas, so that their length can be computed.
pub(crate) struct StoredReads<'a>(pub(crate) &'a ReadAreas);

impl Encode<()> for StoredReads<'_> {
    fn encode<W: Write>(
        &self,
        encoder: &mut Encoder<W>,
        context: &mut (),
    ) -> Result<(), EncodeError<W::Error>> {
        read_areas::encode(self.0, encoder, context)
    }
}

/// For use in `#[cbor(with)]`.
pub(crate) mod read_areas {
    use super::*;

    pub(crate) fn encode<Ctx, W: Write>(
        reads: &ReadAreas,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        encoder.array(2)?.u16(reads.traits().bits())?;
        encoder.array(to_u64(reads.areas().len() * SheetArea::NUMBERS))?;
        for number in reads.numbers() {
            encoder.u32(number)?;
        }
        Ok(())
    }

    pub(crate) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        _: &mut Ctx,
    ) -> Result<ReadAreas, DecodeError> {
        let malformed = || DecodeError::message("the areas that formulas read are malformed");
        if decoder.array()? != Some(2) {
            return Err(malformed());
        }
        let traits = FormulaTraits::from_bits(decoder.u16()?).ok_or_else(malformed)?;
        let mut numbers = Vec::new();
        for number in decoder.array_iter::<u32>()? {
            if numbers.len() >= MAX_SHEET_READ_AREAS * SheetArea::NUMBERS {
                return Err(DecodeError::message("a list is too long"));
            }
            numbers.push(number?);
        }
        ReadAreas::from_numbers(traits, &numbers, MAX_SHEET_READ_AREAS).ok_or_else(malformed)
    }
}

/// Like [`read_areas`], for areas that may be absent.
pub(crate) mod optional_read_areas {
    use super::*;

    pub(crate) fn encode<Ctx, W: Write>(
        reads: &Option<ReadAreas>,
        encoder: &mut Encoder<W>,
        context: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        match reads {
            Some(reads) => read_areas::encode(reads, encoder, context),
            None => encoder.null()?.ok(),
        }
    }

    pub(crate) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        context: &mut Ctx,
    ) -> Result<Option<ReadAreas>, DecodeError> {
        read_areas::decode(decoder, context).map(Some)
    }

    pub(crate) fn is_nil(reads: &Option<ReadAreas>) -> bool {
        reads.is_none()
    }

    pub(crate) fn nil() -> Option<Option<ReadAreas>> {
        Some(None)
    }
}

#[cfg(test)]
mod tests;
