//! Formula syntax, expression trees and references. This crate also defines the stored form of
//! formulas, and how references follow inserted, deleted and moved cells. It does not evaluate
//! formulas.
//!
//! The syntax is that of Excel in English: `.` is the decimal separator, and `,` separates
//! arguments. Sheets have more rows and columns than in Excel, so `ABCD1` is a cell and not a name.

pub mod changes;
pub mod expression;
mod formula;
mod line_map;
mod read_areas;
pub mod reference;
pub mod syntax;
mod template;
#[cfg(test)]
mod testing;

pub use formula::{ChangedFormula, Formula, PlacedReference};
pub use line_map::{DeletedLines, LineMap};
pub use read_areas::{ReadAreas, TemplateRun};
pub use template::{Template, UnreadableTemplate};
