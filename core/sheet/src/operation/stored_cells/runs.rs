//! Decodes the runs of a stored `SetCells`, and bounds their total number of cells while decoding.
//!
//! A blank cell is one byte in a body and many bytes in memory, in many short runs as well as in
//! one long run.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::{Run, StoredCell};
use cellar_base::limits::MAX_CELLS_PER_OPERATION;

/// Decodes runs of at most `MAX_CELLS_PER_OPERATION` cells in total; an empty run counts as one
/// cell.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Run>, D::Error> {
    deserializer.deserialize_seq(Runs { room: MAX_CELLS_PER_OPERATION })
}

/// Decodes runs, up to a number of cells.
struct Runs {
    room: usize,
}

/// Decodes one run, and subtracts its cells from the remaining capacity.
struct OneRun<'a> {
    room: &'a mut usize,
}

/// The cells of one run.
struct Cells<'a> {
    room: &'a mut usize,
}

fn too_many<E: Error>() -> E {
    E::custom("an operation has more cells than any may have")
}

impl<'de> Visitor<'de> for Runs {
    type Value = Vec<Run>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("runs of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Vec<Run>, A::Error> {
        let mut runs = Vec::new();
        while let Some(run) = items.next_element_seed(OneRun { room: &mut self.room })? {
            if run.cells.is_empty() {
                self.room = self.room.checked_sub(1).ok_or_else(too_many)?;
            }
            runs.push(run);
        }
        Ok(runs)
    }
}

impl<'de> DeserializeSeed<'de> for OneRun<'_> {
    type Value = Run;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Run, D::Error> {
        deserializer.deserialize_struct("Run", &["rows_down", "column", "cells"], self)
    }
}

impl<'de> Visitor<'de> for OneRun<'_> {
    type Value = Run;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a run of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Run, A::Error> {
        let missing = |field| A::Error::invalid_length(field, &"the three fields of a run");
        let rows_down = fields.next_element()?.ok_or_else(|| missing(0))?;
        let column = fields.next_element()?.ok_or_else(|| missing(1))?;
        let cells = fields.next_element_seed(Cells { room: self.room })?;
        Ok(Run { rows_down, column, cells: cells.ok_or_else(|| missing(2))? })
    }
}

impl<'de> DeserializeSeed<'de> for Cells<'_> {
    type Value = Vec<StoredCell>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = Vec<StoredCell>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        if items.size_hint().is_some_and(|declared| declared > *self.room) {
            return Err(too_many());
        }
        let mut cells = Vec::new();
        while let Some(cell) = items.next_element()? {
            *self.room = self.room.checked_sub(1).ok_or_else(too_many)?;
            cells.push(cell);
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::stored_cells::StoredSetCells;

    /// Sheet 0, these formats (all empty), and runs with so many blank cells each.
    fn bytes(formats: usize, runs: &[usize]) -> Vec<u8> {
        let length = |length: usize| postcard::to_allocvec(&length).unwrap();
        let mut bytes = vec![0];
        bytes.extend(length(formats));
        bytes.resize(bytes.len() + formats, 0);
        bytes.extend(length(runs.len()));
        for cells in runs {
            bytes.extend([1, 0]);
            bytes.extend(length(*cells));
            bytes.resize(bytes.len() + cells, 0);
        }
        bytes
    }

    fn reads(formats: usize, runs: &[usize]) -> bool {
        postcard::from_bytes::<StoredSetCells>(&bytes(formats, runs)).is_ok()
    }

    #[test]
    fn cells_are_counted_over_all_runs_while_they_are_decoded() {
        let most = MAX_CELLS_PER_OPERATION;
        assert!(reads(0, &[most]) && reads(0, &[most - 7, 7]) && reads(0, &vec![1; most]));
        assert!(!reads(0, &[most + 1]) && !reads(0, &[most - 7, 8]));
        assert!(!reads(0, &vec![1; most + 1]));
    }

    #[test]
    fn runs_without_cells_and_formats_are_counted_too() {
        let most = MAX_CELLS_PER_OPERATION;
        assert!(reads(0, &vec![0; most]) && !reads(0, &vec![0; most + 1]));
        assert!(reads(most, &[1]) && !reads(most + 1, &[1]));
    }

    #[test]
    fn a_declared_length_makes_no_room() {
        let set = |declared: usize, behind: usize| {
            let length = postcard::to_allocvec(&declared).unwrap();
            let bytes = [&[0, 0, 1, 0, 0], length.as_slice(), &vec![0; behind]].concat();
            postcard::from_bytes::<StoredSetCells>(&bytes).unwrap_err()
        };
        let most = MAX_CELLS_PER_OPERATION;
        assert_eq!(set(usize::MAX, 3), postcard::Error::DeserializeUnexpectedEnd);
        assert_eq!(set(usize::MAX, most), postcard::Error::DeserializeUnexpectedEnd);
        assert_eq!(set(usize::MAX, most + 1), postcard::Error::SerdeDeCustom);
    }
}
