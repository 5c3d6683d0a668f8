//! Transform: moves an operation past what others committed since its base, by the identity of
//! rows, columns and sheets (design `4-sync.md` §3).
//!
//! A [`SpaceMap`] leads from the space in which an author wrote to the head of the log: per sheet
//! an axis map for its rows and one for its columns. Every rule of the table follows from where the
//! map takes what the author saw:
//!
//! | mine | what is committed |
//! |---|---|
//! | `SetCells` | the cells whose row and column are still there, where they stand now |
//! | insert | in front of the first survivor of what stood behind the gap: after what others inserted there, never lost |
//! | delete, clear | what is still there of the range; what others inserted inside is spared |
//! | `SetFormat` | from the first to the last survivor, with what others inserted between |
//! | a new sheet | under its author's number or, if that is taken, the next that is free |
//! | on a sheet that is gone | as it is: the number is never reused, so that it changes nothing |
//! | on a number that only a stranger's new sheet has | nothing |
//!
//! A map depends only on what is left, not on the order or grouping in which it came about.

mod author;
#[cfg(test)]
mod cost;
mod operation;
mod space_map;
#[cfg(test)]
mod tests;

pub use author::{Author, Change, TooManyChanges};
pub use operation::transform;
pub use space_map::{SheetMap, SpaceMap};
