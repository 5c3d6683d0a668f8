//! Outdated cells in a bounded number of rectangles.

use std::collections::BTreeMap;

use cellar_base::limits::MAX_OUTDATED_AREAS;
use cellar_formula::changes::MovedLines;
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::operation::SheetId;

use crate::tile::{TextLayer, Tile, TileColumn, TileValue};

/// Maximum number of rectangles of a sheet while they are collected.
const MAX_COLLECTED_AREAS: usize = 512;

/// Cells whose stored values are outdated if they contain formulas.
///
/// There may be more cells than those that are outdated, and never fewer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutdatedAreas {
    is_everything: bool,
    by_sheet: BTreeMap<SheetId, Vec<Rectangle>>,
}

impl OutdatedAreas {
    /// Returns the areas that contain all cells of all sheets.
    #[must_use]
    pub fn everything() -> Self {
        Self { is_everything: true, by_sheet: BTreeMap::new() }
    }

    /// Returns whether these are all cells of all sheets.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.is_everything
    }

    /// Returns whether no cell is outdated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_everything && self.by_sheet.is_empty()
    }

    /// Iterates over the rectangles, unless all cells are outdated.
    pub fn iter(&self) -> impl Iterator<Item = SheetArea> + '_ {
        let areas = |(sheet, rectangles): (&SheetId, &'_ Vec<Rectangle>)| {
            let sheet = *sheet;
            rectangles.clone().into_iter().map(move |cells| SheetArea { sheet, cells })
        };
        self.by_sheet.iter().flat_map(areas)
    }

    /// Returns the number of cells of all rectangles.
    #[must_use]
    pub fn cell_count(&self) -> u64 {
        let cells = self.by_sheet.values().flatten().map(Rectangle::area);
        if self.is_everything { u64::MAX } else { cells.fold(0, u64::saturating_add) }
    }

    /// Adds the cells of a rectangle. Unites rectangles if there are too many.
    pub fn add(&mut self, SheetArea { sheet, mut cells }: SheetArea) {
        if self.is_everything {
            return;
        }
        let rectangles = self.by_sheet.entry(sheet).or_default();
        if rectangles.iter().any(|other| other.covers(&cells)) {
            return;
        }
        let is_free = |other: &Rectangle, cells: &Rectangle| other.cells_added_by_union(cells) == 0;
        while let Some(index) = rectangles.iter().position(|other| is_free(other, &cells)) {
            cells = cells.union(&rectangles.swap_remove(index));
        }
        rectangles.push(cells);
        if rectangles.len() > MAX_COLLECTED_AREAS {
            unite_neighbours(rectangles);
        }
    }

    /// Adds all cells of other areas.
    pub fn add_all(&mut self, other: &Self) {
        if other.is_everything {
            *self = Self::everything();
        }
        other.iter().for_each(|area| self.add(area));
    }

    /// Returns whether any cell of an area is outdated.
    #[must_use]
    pub fn overlap(&self, area: &SheetArea) -> bool {
        let overlaps = |cells: &Rectangle| cells.overlaps(&area.cells);
        let rectangles = self.by_sheet.get(&area.sheet);
        self.is_everything || rectangles.is_some_and(|cells| cells.iter().any(overlaps))
    }

    /// Returns the outdated cells of an area.
    pub fn parts_of(&self, area: SheetArea) -> impl Iterator<Item = SheetArea> + '_ {
        let SheetArea { sheet, cells } = area;
        let whole = self.is_everything.then_some(cells);
        let rectangles = self.by_sheet.get(&sheet).into_iter().flatten();
        let parts = rectangles.filter_map(move |outdated| outdated.intersection(&cells));
        whole.into_iter().chain(parts).map(move |cells| SheetArea { sheet, cells })
    }

    /// Returns the cells that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut rest = Self { is_everything: self.is_everything, by_sheet: BTreeMap::new() };
        if other.is_everything {
            return Self::default();
        }
        for (sheet, rectangles) in &self.by_sheet {
            let removed = other.by_sheet.get(sheet).map(Vec::as_slice).unwrap_or_default();
            let mut parts = rectangles.clone();
            for cells in removed {
                parts = parts.into_iter().flat_map(|part| part.without(cells)).collect();
            }
            let sheet = *sheet;
            parts.into_iter().for_each(|cells| rest.add(SheetArea { sheet, cells }));
        }
        rest
    }

    /// Returns the areas after rows and columns have moved.
    #[must_use]
    pub(super) fn moved(&self, moves: &MovedLines) -> Self {
        let mut moved = Self { is_everything: self.is_everything, by_sheet: BTreeMap::new() };
        self.iter().filter_map(|area| moves.moved_area(&area)).for_each(|area| moved.add(area));
        moved
    }

    /// Unites rectangles until there are few enough for a root. Sorts them, so that equal areas
    /// are stored alike.
    #[must_use]
    pub fn reduced(mut self) -> Self {
        if self.by_sheet.len() > MAX_OUTDATED_AREAS {
            return Self::everything();
        }
        while self.count() > MAX_OUTDATED_AREAS {
            let largest = self.by_sheet.values_mut().max_by_key(|rectangles| rectangles.len());
            largest.into_iter().for_each(unite_neighbours);
        }
        self.by_sheet.values_mut().for_each(|rectangles| rectangles.sort_unstable_by_key(order));
        self
    }

    fn count(&self) -> usize {
        self.by_sheet.values().map(Vec::len).sum()
    }

    /// Removes the formulas of a tile whose stored values are not outdated, so that these values
    /// are read like values without formulas. The rows and columns of the tile must be those of the
    /// sheet. A formula without a value is outdated, because its value is not known.
    #[must_use]
    pub fn without_valid_formulas(&self, sheet: SheetId, mut tile: Tile) -> Tile {
        if !self.is_everything {
            for column in &mut tile.columns {
                if !column.formulas.is_empty() {
                    column.formulas = self.outdated_formulas(sheet, column, &column.formulas);
                }
                if !column.templates.is_empty() {
                    column.templates = self.outdated_formulas(sheet, column, &column.templates);
                }
            }
        }
        tile
    }

    fn outdated_formulas(
        &self,
        sheet: SheetId,
        column: &TileColumn,
        formulas: &TextLayer,
    ) -> TextLayer {
        let mut outdated = TextLayer::default();
        let mut values = column.values.rows().iter().zip(column.values.values()).peekable();
        for (row, formula) in formulas.iter() {
            while values.next_if(|(value_row, _)| **value_row < row).is_some() {}
            let value = values.peek().filter(|(value_row, _)| **value_row == row);
            let is_unknown = value.is_none_or(|(_, value)| **value == TileValue::Empty);
            if is_unknown || self.contains(sheet, CellName { row, column: column.index }) {
                outdated.push(row, formula);
            }
        }
        outdated
    }

    /// Returns whether a cell is outdated.
    #[must_use]
    pub fn contains(&self, sheet: SheetId, cell: CellName) -> bool {
        self.overlap(&SheetArea { sheet, cells: Rectangle { first: cell, last: cell } })
    }
}

fn order(cells: &Rectangle) -> (CellName, CellName) {
    (cells.first, cells.last)
}

/// Halves the number of rectangles.
fn unite_neighbours(rectangles: &mut Vec<Rectangle>) {
    rectangles.sort_unstable_by_key(order);
    let pairs = rectangles.chunks(2);
    let unite = |pair: &[Rectangle]| pair.iter().copied().reduce(|one, other| one.union(&other));
    *rectangles = pairs.filter_map(unite).collect();
}

/// The stored form in a root, for use in `#[cbor(with, has_nil)]`.
pub(crate) mod stored_areas {
    use minicbor::decode::Error as DecodeError;
    use minicbor::encode::{Error as EncodeError, Write};
    use minicbor::{Decoder, Encoder};

    use super::*;
    use crate::saturate::to_u64;

    pub(crate) fn encode<Ctx, W: Write>(
        outdated: &Option<OutdatedAreas>,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        let Some(outdated) = outdated else { return encoder.null()?.ok() };
        encoder.array(to_u64(outdated.count() * SheetArea::NUMBERS))?;
        for number in outdated.iter().flat_map(|area| area.numbers()) {
            encoder.u32(number)?;
        }
        Ok(())
    }

    pub(crate) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        _: &mut Ctx,
    ) -> Result<Option<OutdatedAreas>, DecodeError> {
        let mut numbers = Vec::new();
        for number in decoder.array_iter::<u32>()? {
            if numbers.len() >= MAX_OUTDATED_AREAS * SheetArea::NUMBERS {
                return Err(DecodeError::message("a list is too long"));
            }
            numbers.push(number?);
        }
        let malformed = || DecodeError::message("an area with outdated values is malformed");
        let (parts, rest) = numbers.as_chunks();
        if !rest.is_empty() {
            return Err(malformed());
        }
        let mut outdated = OutdatedAreas::default();
        for part in parts {
            let SheetArea { sheet, cells } =
                SheetArea::from_numbers(*part).ok_or_else(malformed)?;
            outdated.by_sheet.entry(sheet).or_default().push(cells);
        }
        Ok(Some(outdated))
    }

    pub(crate) fn is_nil(outdated: &Option<OutdatedAreas>) -> bool {
        outdated.is_none()
    }

    pub(crate) fn nil() -> Option<Option<OutdatedAreas>> {
        Some(None)
    }
}
