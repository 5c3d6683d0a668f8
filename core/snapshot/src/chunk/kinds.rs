//! Value kinds of a column.

use super::bytes::{Reader, write_count};
use super::error::UnreadableChunk;
use super::integers;
use crate::tile::TileValue;

/// Value kind. Stored numbers must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Empty,
    Number,
    Bool,
    Error,
    Text,
    Long,
}

/// All kinds, in storage order of their values.
pub(super) const KINDS: [Kind; 6] =
    [Kind::Empty, Kind::Number, Kind::Bool, Kind::Error, Kind::Text, Kind::Long];
/// Stored instead of a kind number if the column mixes several kinds.
pub(super) const MIXED: u8 = 7;

/// Run-length encoding: runs of equal kinds.
const RUNS: u8 = 0;
/// Plain encoding: one kind per value.
const EACH: u8 = 1;

impl Kind {
    pub(super) fn of(value: &TileValue) -> Self {
        match value {
            TileValue::Empty => Self::Empty,
            TileValue::Number(_) => Self::Number,
            TileValue::Bool(_) => Self::Bool,
            TileValue::Error(_) => Self::Error,
            TileValue::Text(_) => Self::Text,
            TileValue::Long(_) => Self::Long,
        }
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Self::Empty => 1,
            Self::Number => 2,
            Self::Bool => 3,
            Self::Error => 4,
            Self::Text => 5,
            Self::Long => 6,
        }
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.number() == number)
    }
}

/// Returns the number of the common kind, [`MIXED`] if kinds differ, or 0 if there are no values.
pub(super) fn common_kind(values: &[TileValue]) -> u8 {
    let Some(first) = values.first().map(Kind::of) else { return 0 };
    if values.iter().all(|value| Kind::of(value) == first) { first.number() } else { MIXED }
}

/// Encodes the kinds of mixed values in the smaller of the two encodings.
pub(super) fn write(out: &mut Vec<u8>, values: &[TileValue]) {
    let (each_bytes, each_cost) = encode_each(values);
    let (runs_bytes, runs_cost) = encode_runs(values);
    out.extend_from_slice(if runs_cost <= each_cost { &runs_bytes } else { &each_bytes });
}

fn encode_each(values: &[TileValue]) -> (Vec<u8>, usize) {
    let kinds: Vec<i64> = values.iter().map(|value| i64::from(Kind::of(value).number())).collect();
    let mut bytes = vec![EACH];
    let cost = integers::write(&mut bytes, &kinds);
    (bytes, cost)
}

fn encode_runs(values: &[TileValue]) -> (Vec<u8>, usize) {
    let runs: Vec<&[TileValue]> =
        values.chunk_by(|one, next| Kind::of(one) == Kind::of(next)).collect();
    let first_values = runs.iter().filter_map(|run| run.first());
    let kinds: Vec<i64> = first_values.map(|value| i64::from(Kind::of(value).number())).collect();
    let mut bytes = vec![RUNS];
    write_count(&mut bytes, runs.len());
    let kinds_cost = integers::write(&mut bytes, &kinds);
    let lengths_cost = integers::write_counts(&mut bytes, runs.iter().map(|run| run.len()));
    (bytes, kinds_cost + lengths_cost)
}

/// Decodes the kinds of `count` values.
pub(super) fn read(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Kind>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("the kinds of values are malformed");
    let to_kind =
        |number: u32| u8::try_from(number).ok().and_then(Kind::from_number).ok_or(malformed);
    match reader.byte()? {
        EACH => integers::read_counts(reader, count, 6)?.into_iter().map(to_kind).collect(),
        RUNS => {
            let runs = reader.count(count)?;
            let numbers = integers::read_counts(reader, runs, 6)?;
            let max_length = u32::try_from(count).unwrap_or(u32::MAX);
            let lengths = integers::read_counts(reader, runs, max_length)?;
            let mut kinds = Vec::with_capacity(count);
            for (number, length) in numbers.into_iter().zip(lengths) {
                let end = kinds.len() + usize::try_from(length).unwrap_or(usize::MAX);
                if end > count {
                    return Err(malformed);
                }
                kinds.resize(end, to_kind(number)?);
            }
            if kinds.len() == count { Ok(kinds) } else { Err(malformed) }
        }
        _ => Err(malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_sheet::cell::ErrorCode;

    fn round(values: &[TileValue]) -> (u8, usize) {
        let mut bytes = Vec::new();
        write(&mut bytes, values);
        let kinds = read(&mut Reader::new(&bytes), values.len()).unwrap();
        assert_eq!(kinds, values.iter().map(Kind::of).collect::<Vec<_>>());
        assert!(read(&mut Reader::new(&bytes), values.len() + 1).is_err());
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
        assert_eq!(round(&wild).0, EACH);
        assert_eq!(
            (common_kind(&[number; 3]), common_kind(&head), common_kind(&[])),
            (2, MIXED, 0)
        );
    }
}
