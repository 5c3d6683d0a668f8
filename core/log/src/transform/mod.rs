//! Transforms an operation past the entries committed since its base, tracking rows, columns and
//! sheets by identity.
//!
//! A [`SpaceMap`] maps the author's coordinates to those of the latest entry. For each sheet, it
//! contains a row axis map and a column axis map, which lead to the following rules:
//!
//! | operation | committed as |
//! |---|---|
//! | `SetCells` | the cells whose row and column still exist, at their new position; references of formulas to the remaining rows and columns, and to sheets by their new names |
//! | insert | an insert before the first remaining row after the original position, after rows that others inserted there; never lost |
//! | delete, clear | the remaining part of the range, without rows that others inserted inside the range |
//! | `SetFormat` | the range from the first to the last remaining row, including rows inserted in between |
//! | `SetName` | the definition with its references at their new place; the later of two definitions is kept |
//! | a new sheet | a new sheet with the author's number or, if taken, the next free number |
//! | on a deleted sheet | unchanged: the number is never reused, so the operation has no effect |
//! | on a sheet number that exists only because another author added the sheet | nothing |
//!
//! A map depends only on the remaining rows, columns and sheets, not on the order or grouping of
//! the changes.

mod formula;
mod formula_sheets;
mod insert_order;
mod operation;
mod set_name;
mod space_map;
#[cfg(test)]
mod tests;

pub use formula_sheets::{FormulaSheet, FormulaSheets, may_name_sheets};
pub use operation::transform;
pub use space_map::{SheetMap, SpaceMap};
