//! Formulas without their evaluation: their syntax and tree, the cells that they refer to, the stored
//! form that equal formulas of a filled column share, and how references follow inserted, deleted
//! and moved cells.
//!
//! The syntax is that of Excel in English: `.` separates decimals and `,` separates arguments. Rows
//! and columns are those of Cellar's larger sheets, so `ABCD1` is a cell and not a name.

pub mod changes;
pub mod expression;
mod formula;
mod line_map;
pub mod reference;
pub mod syntax;
mod template;
#[cfg(test)]
mod testing;

pub use formula::{ChangedFormula, Formula, PlacedReference};
pub use line_map::{DeletedLines, LineMap};
pub use template::{Template, UnreadableTemplate};
