//! Tiles: the cells of a rectangle, column by column, as they are worked on in memory.
//!
//! How a tile becomes bytes is the business of the chunk format. Here a cell costs no allocation:
//! texts stand one behind the other in one string per column.

mod sound;
mod text_layer;
mod value_layer;

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

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(TileColumn::is_empty)
    }
}

impl TileColumn {
    /// A column that holds nothing yet.
    #[must_use]
    pub fn new(column: u32) -> Self {
        Self { column, ..Self::default() }
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

    /// The row behind its last.
    #[must_use]
    pub fn end(&self) -> u32 {
        let last = |rows: &[u32]| rows.last().map_or(0, |row| row.saturating_add(1));
        last(self.values.rows()).max(last(self.formats.rows()))
    }
}
