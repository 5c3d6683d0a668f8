//! How references follow changes to a spreadsheet.
//!
//! | change | effect on a reference |
//! |---|---|
//! | rows inserted above the cell or range | moves down |
//! | rows inserted between the first and last row of a range | extends to the inserted rows |
//! | rows inserted below the cell or range | none |
//! | some rows of a range deleted, even its first or last row | shrinks to the remaining rows |
//! | all referenced cells, or their sheet, deleted | becomes `#REF!` |
//! | a block of cells that contains all referenced cells moved | follows the block |
//! | all referenced cells overwritten by a moved block | becomes `#REF!` |
//! | the formula copied | coordinates without `$` keep their distance from the formula |
//! | a sheet renamed | none, because references store the number of the sheet |
//!
//! The same rules apply to columns. A `$` matters only when a formula is copied: inserted and
//! deleted rows and moved blocks change coordinates with and without `$` alike. Sorting copies the
//! formulas of each row to the new position of the row. References from other cells do not follow
//! sorted rows.

mod copy;
mod moved_block;
mod moved_lines;
#[cfg(test)]
mod tests;

pub use moved_block::{MovedBlock, OutsideSheet};
pub use moved_lines::{MovedLines, SheetLines};
