//! How references follow changes of a spreadsheet.
//!
//! | change | reference |
//! |---|---|
//! | rows inserted before the first row of a range, or before a cell | moves |
//! | rows inserted inside a range, or before its last row | grows |
//! | rows inserted after a range | unchanged |
//! | some rows of a range deleted, also its first or last row | shrinks to the remaining rows |
//! | all cells of a reference deleted, or its sheet | `#REF!` |
//! | a block of cells moved that contains all cells of the reference | follows the block |
//! | a block of cells moved onto all cells of the reference | `#REF!` |
//! | the formula copied | coordinates without `$` keep their distance from the formula |
//! | a sheet renamed | unchanged, because references contain the number of the sheet |
//!
//! The same holds for columns. `$` has a meaning only when a formula is copied. Rows are moved by an
//! insertion, a moved block and a deletion. Sorting copies the formulas of each row to the new row;
//! references from outside keep their place.

mod copy;
mod moved_block;
mod moved_lines;
#[cfg(test)]
mod tests;

pub use moved_block::{MovedBlock, OutsideSheet};
pub use moved_lines::{MovedLines, SheetLines};
