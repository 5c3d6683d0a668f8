//! Tiles: the cells of a rectangle, column by column, as they are worked on in memory.
//!
//! How a tile becomes bytes is the business of the chunk format. Here a cell costs no allocation:
//! texts stand one behind the other in one string per column.

mod named_text;
mod sound;
mod text_layer;
mod value_layer;

use std::ops::Range;

pub use named_text::{NamedText, preview};
pub use text_layer::{TextLayer, TextSpan};
pub use value_layer::{LongText, TileValue, ValueLayer};

/// The cells of a rectangle. Rows and columns count from its top left, so that a tile stays the same
/// wherever it is moved to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tile {
    /// The columns that hold something, ascending.
    pub columns: Vec<TileColumn>,
}

/// One column of a tile. Value (with its formula) and format are layers of their own: a cell may have
/// one without the other, and a read goes on to older levels until it has both.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TileColumn {
    /// Its number, from the tile's left edge.
    pub column: u32,
    /// The values that this level sets; `Empty` hides an older one.
    pub values: ValueLayer,
    /// The texts of formulas, for some of the rows that have a value; a value without one hides an
    /// older formula, too.
    pub formulas: TextLayer,
    /// The number formats that this level gives to single cells; `General` hides an older one.
    pub formats: TextLayer,
}

impl Tile {
    /// How many cells have a value or a format.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.columns.iter().map(TileColumn::cells).fold(0, usize::saturating_add)
    }

    /// How many cells have a formula.
    #[must_use]
    pub fn formulas(&self) -> usize {
        self.columns.iter().map(|column| column.formulas.len()).sum()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(TileColumn::is_empty)
    }

    /// How many cells are above `row`.
    #[must_use]
    pub fn cells_above(&self, row: u32) -> usize {
        self.columns.iter().map(|column| column.cells_above(row)).fold(0, usize::saturating_add)
    }

    /// The first row that holds something.
    #[must_use]
    pub fn first_row(&self) -> Option<u32> {
        self.columns.iter().filter_map(TileColumn::first_row).min()
    }

    /// The row behind the last that holds something.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.columns.iter().map(TileColumn::end).max().unwrap_or(0)
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.columns.iter().map(TileColumn::memory_bytes).fold(0, usize::saturating_add)
    }

    /// Adds all of a tile that begins below this one's last row.
    pub fn append(&mut self, other: Self) {
        if self.columns.is_empty() {
            *self = other;
            return;
        }
        let mut merged: Vec<TileColumn> = Vec::with_capacity(self.columns.len());
        let (mut mine, mut theirs) = (
            std::mem::take(&mut self.columns).into_iter().peekable(),
            other.columns.into_iter().peekable(),
        );
        loop {
            let (one, two) = (mine.peek().map(|c| c.column), theirs.peek().map(|c| c.column));
            let next = match (one, two) {
                (Some(one), Some(two)) if one == two => {
                    let column = mine.next().zip(theirs.next());
                    column.map(|(mut column, more)| {
                        column.append(&more);
                        column
                    })
                }
                (Some(one), Some(two)) if one > two => theirs.next(),
                (None, _) => theirs.next(),
                (Some(_), _) => mine.next(),
            };
            match next {
                Some(column) => merged.push(column),
                None => break,
            }
        }
        self.columns = merged;
    }

    /// The row behind the last that holds something above `row`.
    #[must_use]
    pub fn end_above(&self, row: u32) -> u32 {
        self.columns.iter().map(|column| column.end_above(row)).max().unwrap_or(0)
    }

    /// What is in some rows, counted from a place.
    #[must_use]
    pub fn part(&self, rows: &Range<u32>, top: u32, left: u32) -> Self {
        let parts = self.columns.iter().map(|column| TileColumn {
            column: column.column.saturating_sub(left),
            values: column.values.part(rows, top),
            formulas: column.formulas.part(rows, top),
            formats: column.formats.part(rows, top),
        });
        Self { columns: parts.filter(|column| !column.is_empty()).collect() }
    }
}

impl TileColumn {
    /// A column that holds nothing yet.
    #[must_use]
    pub fn new(column: u32) -> Self {
        Self { column, ..Self::default() }
    }

    /// A column that holds nothing yet, and has room for as much as this one holds.
    #[must_use]
    pub fn with_room_of(&self) -> Self {
        let mut column = Self::new(self.column);
        column.values.reserve(self.values.len(), &self.values);
        column.formulas.reserve(&self.formulas);
        column.formats.reserve(&self.formats);
        column
    }

    /// How many cells have a value, or at least a format: at most the sum of both.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.values.len().max(self.formats.len())
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.formats.is_empty()
    }

    /// How many cells are above `row`.
    #[must_use]
    pub fn cells_above(&self, row: u32) -> usize {
        self.values.above(row).max(self.formats.above(row))
    }

    fn memory_bytes(&self) -> usize {
        const VALUE_BYTES: usize = 20;
        const SPAN_BYTES: usize = 12;
        let spans = self.formulas.len().saturating_add(self.formats.len());
        let texts = [self.values.texts(), self.formulas.texts(), self.formats.texts()];
        let texts: usize = texts.iter().map(|texts| texts.len()).sum();
        let values = self.values.len().saturating_mul(VALUE_BYTES);
        size_of::<Self>()
            .saturating_add(values)
            .saturating_add(spans.saturating_mul(SPAN_BYTES))
            .saturating_add(texts)
    }

    /// Its first row.
    #[must_use]
    pub fn first_row(&self) -> Option<u32> {
        let first = |rows: &[u32]| rows.first().copied();
        first(self.values.rows()).into_iter().chain(first(self.formats.rows())).min()
    }

    /// Adds all of a column that begins below this one's last row.
    pub fn append(&mut self, other: &Self) {
        self.values.append(&other.values);
        self.formulas.append(&other.formulas);
        self.formats.append(&other.formats);
    }

    /// The row behind its last above `row`.
    #[must_use]
    pub fn end_above(&self, row: u32) -> u32 {
        let last = |rows: &[u32], above: usize| {
            let last = above.checked_sub(1).and_then(|at| rows.get(at));
            last.map_or(0, |last| last.saturating_add(1))
        };
        let values = last(self.values.rows(), self.values.above(row));
        values.max(last(self.formats.rows(), self.formats.above(row)))
    }

    /// The row behind its last.
    #[must_use]
    pub fn end(&self) -> u32 {
        let last = |rows: &[u32]| rows.last().map_or(0, |row| row.saturating_add(1));
        last(self.values.rows()).max(last(self.formats.rows()))
    }
}
