//! Value kinds of a column.

use super::bytes::{ChunkReader, write_count};
use super::error::UnreadableChunk;
use super::estimate::EncodingCandidate;
use super::integers;
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::TileValue;

/// The stored numbers must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Empty = 1,
    Number = 2,
    Bool = 3,
    Error = 4,
    Text = 5,
    LongText = 6,
}

/// All kinds, in the order in which the values of each kind are stored.
pub(super) const VALUE_KINDS: [ValueKind; 6] = [
    ValueKind::Empty,
    ValueKind::Number,
    ValueKind::Bool,
    ValueKind::Error,
    ValueKind::Text,
    ValueKind::LongText,
];
const MAX_KIND_NUMBER: u32 = 6;

/// Stored number of the run-length encoding of kinds.
const RUNS: u8 = 0;
const ONE_PER_VALUE: u8 = 1;

const MALFORMED_KINDS: UnreadableChunk =
    UnreadableChunk::Malformed("the value kinds of a column are malformed");

impl ValueKind {
    pub(super) fn of(value: &TileValue) -> Self {
        match value {
            TileValue::Empty => Self::Empty,
            TileValue::Number(_) => Self::Number,
            TileValue::Bool(_) => Self::Bool,
            TileValue::Error(_) => Self::Error,
            TileValue::Text(_) => Self::Text,
            TileValue::LongText(_) => Self::LongText,
        }
    }

    pub(super) fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Option<Self> {
        VALUE_KINDS.into_iter().find(|kind| kind.number() == number)
    }

    fn from_stored_number(number: u32) -> Result<Self, UnreadableChunk> {
        u8::try_from(number).ok().and_then(Self::from_number).ok_or(MALFORMED_KINDS)
    }

    pub(super) fn storage_index(self) -> usize {
        usize::from(self.number() - 1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    NoValues,
    Uniform(ValueKind),
    Mixed,
}

impl ColumnKind {
    pub(super) fn of(values: &[TileValue]) -> Self {
        let Some(first_kind) = values.first().map(ValueKind::of) else { return Self::NoValues };
        let is_uniform = values.iter().all(|value| ValueKind::of(value) == first_kind);
        if is_uniform { Self::Uniform(first_kind) } else { Self::Mixed }
    }

    /// Returns the stored number, which takes 3 bits.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::NoValues => 0,
            Self::Uniform(kind) => kind.number(),
            Self::Mixed => 7,
        }
    }

    pub(super) fn from_bits(bits: u8) -> Self {
        match bits {
            0 => Self::NoValues,
            number => ValueKind::from_number(number).map_or(Self::Mixed, Self::Uniform),
        }
    }
}

/// Chooses the smaller of run-length encoding and plain encoding.
pub(super) fn write_kinds(output: &mut Vec<u8>, values: &[TileValue]) {
    let one_per_value = encode_one_per_value(values);
    let runs = encode_runs(values);
    let smaller =
        if runs.estimated_size <= one_per_value.estimated_size { runs } else { one_per_value };
    output.extend_from_slice(&smaller.bytes);
}

fn encode_one_per_value(values: &[TileValue]) -> EncodingCandidate {
    let kind_numbers: Vec<i64> = values.iter().map(kind_number).collect();
    let mut bytes = vec![ONE_PER_VALUE];
    let estimated_size = integers::write_integers(&mut bytes, &kind_numbers);
    EncodingCandidate { bytes, estimated_size }
}

fn encode_runs(values: &[TileValue]) -> EncodingCandidate {
    let have_equal_kinds =
        |left: &TileValue, right: &TileValue| ValueKind::of(left) == ValueKind::of(right);
    let runs: Vec<&[TileValue]> = values.chunk_by(have_equal_kinds).collect();
    let run_kinds: Vec<i64> = runs.iter().filter_map(|run| run.first()).map(kind_number).collect();
    let mut bytes = vec![RUNS];
    write_count(&mut bytes, runs.len());
    let kinds_size = integers::write_integers(&mut bytes, &run_kinds);
    let lengths_size = integers::write_lengths(&mut bytes, runs.iter().map(|run| run.len()));
    EncodingCandidate { bytes, estimated_size: kinds_size + lengths_size }
}

fn kind_number(value: &TileValue) -> i64 {
    i64::from(ValueKind::of(value).number())
}

pub(super) fn read_kinds(
    reader: &mut ChunkReader<'_>,
    value_count: usize,
) -> Result<Vec<ValueKind>, UnreadableChunk> {
    match reader.read_byte()? {
        ONE_PER_VALUE => {
            let kind_numbers =
                integers::read_unsigned_integers(reader, value_count, MAX_KIND_NUMBER)?;
            kind_numbers.into_iter().map(ValueKind::from_stored_number).collect()
        }
        RUNS => read_runs(reader, value_count),
        _ => Err(MALFORMED_KINDS),
    }
}

fn read_runs(
    reader: &mut ChunkReader<'_>,
    value_count: usize,
) -> Result<Vec<ValueKind>, UnreadableChunk> {
    let run_count = reader.read_count(value_count)?;
    let kind_numbers = integers::read_unsigned_integers(reader, run_count, MAX_KIND_NUMBER)?;
    let run_lengths =
        integers::read_unsigned_integers(reader, run_count, saturate_u32(value_count))?;
    let mut kinds = Vec::with_capacity(value_count);
    for (kind_number, run_length) in kind_numbers.into_iter().zip(run_lengths) {
        let run_end = kinds.len() + to_usize(run_length);
        if run_end > value_count {
            return Err(MALFORMED_KINDS);
        }
        kinds.resize(run_end, ValueKind::from_stored_number(kind_number)?);
    }
    if kinds.len() == value_count { Ok(kinds) } else { Err(MALFORMED_KINDS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_sheet::cell::ErrorCode;

    fn round(values: &[TileValue]) -> (u8, usize) {
        let mut bytes = Vec::new();
        write_kinds(&mut bytes, values);
        let kinds = read_kinds(&mut ChunkReader::new(&bytes), values.len()).unwrap();
        assert_eq!(kinds, values.iter().map(ValueKind::of).collect::<Vec<_>>());
        assert!(read_kinds(&mut ChunkReader::new(&bytes), values.len() + 1).is_err());
        (bytes[0], bytes.len())
    }

    #[test]
    fn runs_and_single_kinds_read_back() {
        let (number, empty) = (TileValue::Number(1.0), TileValue::Empty);
        let error = TileValue::Error(ErrorCode::Calc);
        let head = [[TileValue::Bool(true)].as_slice(), &[number; 1_000]].concat();
        assert!(matches!(round(&head), (RUNS, 0..10)));
        let mut random = [0_u8; 1_000];
        blake3::Hasher::new().finalize_xof().fill(&mut random);
        let wild: Vec<TileValue> =
            random.iter().map(|byte| [number, empty, error][usize::from(byte % 3)]).collect();
        assert_eq!(round(&wild).0, ONE_PER_VALUE);
        assert_eq!(
            (ColumnKind::of(&[number; 3]), ColumnKind::of(&head), ColumnKind::of(&[])),
            (ColumnKind::Uniform(ValueKind::Number), ColumnKind::Mixed, ColumnKind::NoValues)
        );
    }
}
