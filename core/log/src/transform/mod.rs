//! Transforms an operation past the entries committed since its base, tracking rows, columns and
//! sheets by identity.
//!
//! A [`SpaceMap`] maps the author's coordinates to those of the latest entry. For each sheet, it
//! contains a row axis map and a column axis map, from which all of the following rules derive:
//!
//! | operation | committed as |
//! |---|---|
//! | `SetCells` | the cells whose row and column still exist, at their new place |
//! | insert | before the first remaining row after the gap: after others' inserts, never lost |
//! | delete, clear | the remaining part of the range, without rows that others inserted inside |
//! | `SetFormat` | from the first to the last remaining row, with rows inserted between |
//! | a new sheet | with its author's number or, if that is taken, the next free one |
//! | on a deleted sheet | unchanged: the number is never reused, so there is no effect |
//! | on a number that only another author's new sheet has | nothing |
//!
//! A map depends only on the remaining rows, columns and sheets, not on the order or grouping of
//! the changes.

mod insert_order;
mod operation;
mod space_map;
#[cfg(test)]
mod tests;

pub use operation::transform;
pub use space_map::{SheetMap, SpaceMap};
