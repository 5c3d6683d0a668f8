//! Decodes runs of cell edits and limits their total number of cells. A blank cell takes one byte
//! in a log entry but many bytes in memory, so the limit is enforced during decoding.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::{Run, StoredCell};
use cellar_base::limits::MAX_CELLS_PER_OPERATION;

/// Decodes runs with at most `MAX_CELLS_PER_OPERATION` cells in total. An empty run counts as one
/// cell.
pub(super) fn deserialize_runs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Run>, D::Error> {
    deserializer.deserialize_seq(RunsVisitor { remaining_cells: MAX_CELLS_PER_OPERATION })
}

struct RunsVisitor {
    remaining_cells: usize,
}

/// Decodes a run and subtracts its number of cells from the number of cells still allowed.
struct RunVisitor<'a> {
    remaining_cells: &'a mut usize,
}

struct CellsVisitor<'a> {
    remaining_cells: &'a mut usize,
}

fn too_many_cells<E: Error>() -> E {
    E::custom(format_args!("an operation has more than {MAX_CELLS_PER_OPERATION} cells"))
}

impl<'de> Visitor<'de> for RunsVisitor {
    type Value = Vec<Run>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("runs of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Vec<Run>, A::Error> {
        let mut runs = Vec::new();
        while let Some(run) =
            items.next_element_seed(RunVisitor { remaining_cells: &mut self.remaining_cells })?
        {
            if run.cells.is_empty() {
                self.remaining_cells =
                    self.remaining_cells.checked_sub(1).ok_or_else(too_many_cells)?;
            }
            runs.push(run);
        }
        Ok(runs)
    }
}

impl<'de> DeserializeSeed<'de> for RunVisitor<'_> {
    type Value = Run;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Run, D::Error> {
        deserializer.deserialize_struct("Run", &["rows_down", "column", "cells"], self)
    }
}

impl<'de> Visitor<'de> for RunVisitor<'_> {
    type Value = Run;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a run of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Run, A::Error> {
        let missing_field =
            |field_index| A::Error::invalid_length(field_index, &"the three fields of a run");
        let rows_down = fields.next_element()?.ok_or_else(|| missing_field(0))?;
        let column = fields.next_element()?.ok_or_else(|| missing_field(1))?;
        let cells_visitor = CellsVisitor { remaining_cells: self.remaining_cells };
        let cells = fields.next_element_seed(cells_visitor)?.ok_or_else(|| missing_field(2))?;
        Ok(Run { rows_down, column, cells })
    }
}

impl<'de> DeserializeSeed<'de> for CellsVisitor<'_> {
    type Value = Vec<StoredCell>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for CellsVisitor<'_> {
    type Value = Vec<StoredCell>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        if items.size_hint().is_some_and(|declared| declared > *self.remaining_cells) {
            return Err(too_many_cells());
        }
        let mut cells = Vec::new();
        while let Some(cell) = items.next_element()? {
            *self.remaining_cells =
                self.remaining_cells.checked_sub(1).ok_or_else(too_many_cells)?;
            cells.push(cell);
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::stored_cells::StoredSetCells;

    /// Encodes cell edits on sheet 0. There are `formats` empty number formats, and each element of
    /// `runs` is the number of blank cells in a run.
    fn encode_blank(formats: usize, runs: &[usize]) -> Vec<u8> {
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
        postcard::from_bytes::<StoredSetCells>(&encode_blank(formats, runs)).is_ok()
    }

    #[test]
    fn limits_the_cells_of_all_runs_together() {
        let most = MAX_CELLS_PER_OPERATION;
        assert!(reads(0, &[most]) && reads(0, &[most - 7, 7]) && reads(0, &vec![1; most]));
        assert!(!reads(0, &[most + 1]) && !reads(0, &[most - 7, 8]));
        assert!(!reads(0, &vec![1; most + 1]));
    }

    #[test]
    fn limits_empty_runs_and_formats() {
        let most = MAX_CELLS_PER_OPERATION;
        assert!(reads(0, &vec![0; most]) && !reads(0, &vec![0; most + 1]));
        assert!(reads(most, &[1]) && !reads(most + 1, &[1]));
    }

    #[test]
    fn a_declared_length_reserves_no_memory() {
        let set = |declared: usize, cells: usize| {
            let length = postcard::to_allocvec(&declared).unwrap();
            let bytes = [&[0, 0, 1, 0, 0], length.as_slice(), &vec![0; cells]].concat();
            postcard::from_bytes::<StoredSetCells>(&bytes).unwrap_err()
        };
        let most = MAX_CELLS_PER_OPERATION;
        assert_eq!(set(usize::MAX, 3), postcard::Error::DeserializeUnexpectedEnd);
        assert_eq!(set(usize::MAX, most), postcard::Error::DeserializeUnexpectedEnd);
        assert_eq!(set(usize::MAX, most + 1), postcard::Error::SerdeDeCustom);
    }
}
