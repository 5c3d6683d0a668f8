//! Encodes and decodes the row numbers of a tile layer.

use super::bit_packing::packed_len;
use super::bytes::{Reader, varint_bytes, write_count, write_signed};
use super::error::UnreadableChunk;
use super::{estimate, integers};
use cellar_base::limits::MAX_TILE_CELLS;

/// Maximum number of bitmap bits per present row. A sparser bitmap is never the smallest encoding.
const MAX_BITS_PER_ROW: usize = 64;

/// Encoding of row numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A single row.
    One,
    /// Consecutive rows: the first row and the row count.
    Run,
    /// The first row, the row count, and a bitmap from the first to the last row.
    Bitmap,
    /// The first row, the row count, and the gaps between rows.
    Gaps,
}

impl Form {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::One => 0,
            Self::Run => 1,
            Self::Bitmap => 2,
            Self::Gaps => 3,
        }
    }

    /// Decodes the row encoding from the two lowest bits of a byte.
    pub(super) fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::One,
            1 => Self::Run,
            2 => Self::Bitmap,
            _ => Self::Gaps,
        }
    }
}

/// Encodes ascending rows and returns the encoding used. The first row is relative to `anchor`,
/// because most columns start at the same row.
pub(super) fn write(out: &mut Vec<u8>, rows: &[u32], anchor: u32) -> Form {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Form::One };
    write_signed(out, i64::from(*first) - i64::from(anchor));
    if rows.len() == 1 {
        return Form::One;
    }
    write_count(out, rows.len());
    let span_rows = usize::try_from(last - first).unwrap_or(usize::MAX).saturating_add(1);
    if span_rows == rows.len() {
        return Form::Run;
    }
    let mut gaps = Vec::new();
    let next_rows = rows.iter().skip(1);
    let distances = rows.iter().zip(next_rows).map(|(one, next)| i64::from(next - one) - 1);
    let gaps_cost = integers::write(&mut gaps, &distances.collect::<Vec<_>>());
    if span_rows / MAX_BITS_PER_ROW <= rows.len() {
        let bitmap = to_bitmap(rows, *first, span_rows);
        let length_bytes = varint_bytes(u64::try_from(bitmap.len()).unwrap_or(u64::MAX));
        let bitmap_cost = length_bytes + estimate::packed_bytes(&bitmap);
        // A bitmap may be a quarter larger than gaps: it decodes faster, and is smaller if zstd can
        // compress neither.
        if bitmap_cost <= gaps_cost + gaps_cost / 4 {
            write_count(out, bitmap.len());
            out.extend_from_slice(&bitmap);
            return Form::Bitmap;
        }
    }
    out.extend_from_slice(&gaps);
    Form::Gaps
}

fn to_bitmap(rows: &[u32], first: u32, span_rows: usize) -> Vec<u8> {
    let mut bytes = vec![0; packed_len(span_rows, 1)];
    for row in rows {
        let bit = row - first;
        if let Some(byte) = usize::try_from(bit / 8).ok().and_then(|index| bytes.get_mut(index)) {
            *byte |= 1 << (bit % 8);
        }
    }
    bytes
}

/// Decodes one or more ascending rows below `limit`.
pub(super) fn read(
    reader: &mut Reader<'_>,
    form: Form,
    anchor: u32,
    limit: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    let outside = UnreadableChunk::Malformed("a row is out of range");
    let first = i64::from(anchor).checked_add(reader.signed()?).ok_or(outside)?;
    let first = u32::try_from(first).map_err(|_| outside)?;
    if first >= limit {
        return Err(outside);
    }
    let count = if form == Form::One { 1 } else { reader.count(MAX_TILE_CELLS)? };
    if count == 0 {
        return Err(UnreadableChunk::Malformed("a stored layer has no rows"));
    }
    reader.charge_cells(count)?;
    let rows: Vec<u32> = match form {
        Form::One => vec![first],
        Form::Run => {
            let end = u32::try_from(count).ok().and_then(|count| first.checked_add(count));
            (first..end.ok_or(outside)?).collect()
        }
        Form::Bitmap => {
            let length = reader.count(reader.len())?;
            from_bitmap(reader.bytes(length)?, first, count)?
        }
        Form::Gaps => {
            let gaps = integers::read_counts(reader, count - 1, limit)?;
            from_gaps(first, &gaps).ok_or(outside)?
        }
    };
    rows.last().filter(|last| **last < limit).ok_or(outside)?;
    Ok(rows)
}
/// Returns the rows, or `None` if a row number overflows.
fn from_gaps(first: u32, gaps: &[u32]) -> Option<Vec<u32>> {
    let mut rows = Vec::with_capacity(gaps.len() + 1);
    rows.push(first);
    let mut row = first;
    for gap in gaps {
        row = row.checked_add(*gap)?.checked_add(1)?;
        rows.push(row);
    }
    Some(rows)
}
fn from_bitmap(bytes: &[u8], first: u32, count: usize) -> Result<Vec<u32>, UnreadableChunk> {
    let count_ones = |word: &[u8; 8]| u64::from_le_bytes(*word).count_ones();
    let (words, rest) = bytes.as_chunks::<8>();
    let ones =
        words.iter().map(count_ones).chain(rest.iter().map(|byte| byte.count_ones())).sum::<u32>();
    if usize::try_from(ones) != Ok(count) {
        return Err(UnreadableChunk::Malformed("a bitmap has a wrong number of rows"));
    }
    let mut rows = Vec::with_capacity(count);
    let mut base = first;
    let mut last_word = [0; 8];
    last_word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    for word in words.iter().chain([&last_word]) {
        let mut bits = u64::from_le_bytes(*word);
        while bits != 0 {
            // The caller checks the last row and rejects rows past the end of the axis.
            rows.push(base.saturating_add(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        base = base.saturating_add(64);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cellar_base::limits::MAX_ROWS;

    fn round(rows: &[u32], anchor: u32) -> (Form, usize) {
        let mut bytes = Vec::new();
        let form = write(&mut bytes, rows, anchor);
        let mut reader = Reader::new(&bytes);
        assert_eq!(read(&mut reader, form, anchor, MAX_ROWS).unwrap(), rows);
        assert_eq!(reader.len(), 0);
        let last = rows.last().unwrap();
        assert!(read(&mut Reader::new(&bytes), form, anchor, *last).is_err(), "beyond the limit");
        (form, bytes.len())
    }

    proptest! {
        #[test]
        fn rows_read_back(
            rows in proptest::collection::btree_set(0..MAX_ROWS, 1..100),
            shift in 0..30_u32,
            anchor in 0..MAX_ROWS,
        ) {
            let mut rows: Vec<u32> = rows.into_iter().map(|row| row >> shift).collect();
            rows.dedup();
            round(&rows, anchor);
        }

        #[test]
        fn any_bytes_are_rows_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            form in 0..4_u8,
            limit in 1..=MAX_ROWS,
        ) {
            if let Ok(rows) = read(&mut Reader::new(&bytes), Form::from_bits(form), 5, limit) {
                prop_assert!(rows.is_sorted_by(|one, next| one < next));
                prop_assert!(rows.last().is_some_and(|last| *last < limit));
            }
        }
    }

    #[test]
    fn the_smallest_form_is_chosen() {
        assert_eq!(round(&[MAX_ROWS - 1], 0), (Form::One, 5));
        assert_eq!(round(&[7], 7), (Form::One, 1));
        let run: Vec<u32> = (1_000..200_000).collect();
        assert_eq!(round(&run, 1_000), (Form::Run, 4));
        let mut random = [0; 10_000];
        blake3::Hasher::new().finalize_xof().fill(&mut random);
        let most = (0..10_000).zip(random).filter(|(_, byte)| *byte > 60).map(|(row, _)| row);
        let most: Vec<u32> = most.collect();
        assert_eq!(round(&most, 0).0, Form::Bitmap);
        let tenth: Vec<u32> = (0..10_000).map(|row| row * 10).collect();
        assert!(round(&tenth, 0).1 < 10, "regular gaps are one number");
        let few: Vec<u32> = (0..50_u32).map(|row| row * row * 400_000).collect();
        assert_eq!(round(&few, 0).0, Form::Gaps);
    }

    #[test]
    fn rows_beyond_the_room_of_a_tile_are_refused_before_they_are_there() {
        let read_run = |count: usize| {
            let mut bytes = vec![0];
            write_count(&mut bytes, count);
            read(&mut Reader::new(&bytes), Form::Run, 0, MAX_ROWS)
        };
        assert_eq!(read_run(MAX_TILE_CELLS).unwrap().len(), MAX_TILE_CELLS);
        assert!(read_run(MAX_TILE_CELLS + 1).is_err() && read_run(usize::MAX).is_err());
        assert!(read_run(0).is_err());
    }
}
