//! Encodes and decodes the row numbers of a layer of a tile.

use super::bit_packing::packed_byte_length;
use super::bytes::{
    ChunkReader, padded_word, varint_byte_length, write_count, write_signed_varint,
};
use super::error::UnreadableChunk;
use super::{estimate, integers};
use crate::saturate::{to_u64, to_usize};
use cellar_base::limits::MAX_TILE_CELLS;

/// Maximum average number of bits per row in a bitmap. If rows are sparser, another encoding is
/// always smaller than a bitmap.
const MAX_BITS_PER_ROW: usize = 64;

const ROW_OUT_OF_RANGE: UnreadableChunk = UnreadableChunk::Malformed("a row is out of range");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowEncoding {
    SingleRow = 0,
    /// Consecutive rows, stored as the first row and the number of rows.
    Run = 1,
    /// A bitmap of all rows from the first to the last, stored after the first row and the number
    /// of rows.
    Bitmap = 2,
    /// The gaps between rows, stored after the first row and the number of rows.
    Gaps = 3,
}

impl RowEncoding {
    pub(super) fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::SingleRow,
            1 => Self::Run,
            2 => Self::Bitmap,
            _ => Self::Gaps,
        }
    }
}

pub(super) struct EncodedRows {
    pub(super) encoding: RowEncoding,
    pub(super) bytes: Vec<u8>,
}

/// Encodes rows in ascending order. The first row is stored relative to `base_row`, because most
/// columns start at the same row.
pub(super) fn encode_rows(rows: &[u32], base_row: u32) -> EncodedRows {
    let mut bytes = Vec::new();
    let encoding = match rows {
        [] => RowEncoding::SingleRow,
        [row] => {
            write_first_row(&mut bytes, *row, base_row);
            RowEncoding::SingleRow
        }
        [first_row, .., last_row] => {
            write_first_row(&mut bytes, *first_row, base_row);
            write_count(&mut bytes, rows.len());
            let spanned_rows = to_usize(last_row - first_row) + 1;
            if spanned_rows == rows.len() {
                RowEncoding::Run
            } else {
                write_bitmap_or_gaps(&mut bytes, rows, *first_row, spanned_rows)
            }
        }
    };
    EncodedRows { encoding, bytes }
}

fn write_first_row(output: &mut Vec<u8>, first_row: u32, base_row: u32) {
    write_signed_varint(output, i64::from(first_row) - i64::from(base_row));
}

/// Encodes two or more rows as a bitmap or as gaps, and returns the chosen encoding.
fn write_bitmap_or_gaps(
    output: &mut Vec<u8>,
    rows: &[u32],
    first_row: u32,
    spanned_rows: usize,
) -> RowEncoding {
    let gaps: Vec<i64> = rows
        .iter()
        .zip(rows.iter().skip(1))
        .map(|(row, next_row)| i64::from(next_row - row) - 1)
        .collect();
    if spanned_rows / MAX_BITS_PER_ROW <= rows.len() {
        let bitmap = to_bitmap(rows, first_row, spanned_rows);
        let length_size = varint_byte_length(to_u64(bitmap.len()));
        let bitmap_size = length_size + estimate::estimate_compressed_size(&bitmap);
        // Choose the bitmap unless it is more than a quarter larger than the gaps. A bitmap decodes
        // faster, and it is smaller than gaps if zstd can compress neither encoding.
        let gaps_size = estimate_size_of_gaps(&gaps);
        let max_bitmap_size = gaps_size + gaps_size / 4;
        if bitmap_size <= max_bitmap_size {
            write_count(output, bitmap.len());
            output.extend_from_slice(&bitmap);
            return RowEncoding::Bitmap;
        }
    }
    integers::write_integers(output, &gaps);
    RowEncoding::Gaps
}

/// Encodes a short list. Estimates a longer list as if each gap took a byte, which takes less time than
/// encoding it.
fn estimate_size_of_gaps(gaps: &[i64]) -> usize {
    /// The estimate is too high for a few small gaps, which take less than a byte each.
    const MIN_ESTIMATED_GAPS: usize = 64;
    if gaps.len() < MIN_ESTIMATED_GAPS {
        return integers::write_integers(&mut Vec::new(), gaps);
    }
    estimate::estimate_compressed_plane(gaps, |gap| u8::try_from(*gap).unwrap_or(u8::MAX))
}

fn to_bitmap(rows: &[u32], first_row: u32, spanned_rows: usize) -> Vec<u8> {
    let mut bitmap = vec![0; packed_byte_length(spanned_rows, 1)];
    for row in rows {
        let bit_index = row - first_row;
        if let Some(byte) = bitmap.get_mut(to_usize(bit_index / 8)) {
            *byte |= 1 << (bit_index % 8);
        }
    }
    bitmap
}

pub(super) fn read_rows(
    reader: &mut ChunkReader<'_>,
    encoding: RowEncoding,
    base_row: u32,
    row_end: u32,
) -> Result<Vec<u32>, UnreadableChunk> {
    let first_row = read_first_row(reader, base_row, row_end)?;
    let row_count = match encoding {
        RowEncoding::SingleRow => 1,
        RowEncoding::Run | RowEncoding::Bitmap | RowEncoding::Gaps => {
            reader.read_count(MAX_TILE_CELLS)?
        }
    };
    if row_count == 0 {
        return Err(UnreadableChunk::Malformed("a stored layer has no rows"));
    }
    reader.charge_cells(row_count)?;
    let rows = match encoding {
        RowEncoding::SingleRow => vec![first_row],
        RowEncoding::Run => rows_of_run(first_row, row_count)?,
        RowEncoding::Bitmap => {
            let bitmap_bytes = reader.read_count(reader.unread_byte_count())?;
            rows_of_bitmap(reader.read_bytes(bitmap_bytes)?, first_row, row_count)?
        }
        RowEncoding::Gaps => {
            let gaps = integers::read_unsigned_integers(reader, row_count - 1, row_end)?;
            rows_of_gaps(first_row, &gaps).ok_or(ROW_OUT_OF_RANGE)?
        }
    };
    let ends_in_range = rows.last().is_some_and(|last_row| *last_row < row_end);
    if ends_in_range { Ok(rows) } else { Err(ROW_OUT_OF_RANGE) }
}

fn read_first_row(
    reader: &mut ChunkReader<'_>,
    base_row: u32,
    row_end: u32,
) -> Result<u32, UnreadableChunk> {
    let distance = reader.read_signed_varint()?;
    let first_row = i64::from(base_row).checked_add(distance).ok_or(ROW_OUT_OF_RANGE)?;
    let first_row = u32::try_from(first_row).map_err(|_| ROW_OUT_OF_RANGE)?;
    if first_row < row_end { Ok(first_row) } else { Err(ROW_OUT_OF_RANGE) }
}

fn rows_of_run(first_row: u32, row_count: usize) -> Result<Vec<u32>, UnreadableChunk> {
    let run_end = u32::try_from(row_count).ok().and_then(|count| first_row.checked_add(count));
    Ok((first_row..run_end.ok_or(ROW_OUT_OF_RANGE)?).collect())
}

/// Returns `None` if a row number overflows.
fn rows_of_gaps(first_row: u32, gaps: &[u32]) -> Option<Vec<u32>> {
    let mut rows = Vec::with_capacity(gaps.len() + 1);
    rows.push(first_row);
    let mut row = first_row;
    for gap in gaps {
        row = row.checked_add(*gap)?.checked_add(1)?;
        rows.push(row);
    }
    Some(rows)
}

/// Number of rows that a byte of a bitmap stands for.
const ROWS_PER_BYTE: usize = 8;
const WORD_BYTES: usize = 8;
const ROWS_PER_WORD: usize = WORD_BYTES * ROWS_PER_BYTE;

/// The bits that are set in each byte, in ascending order, and their number. Zeros follow the bits.
static SET_BITS: [([u8; ROWS_PER_BYTE], u8); 256] = set_bits();

#[allow(clippy::indexing_slicing, reason = "the compiler evaluates it and checks the indices")]
const fn set_bits() -> [([u8; ROWS_PER_BYTE], u8); 256] {
    let mut set_bits = [([0; ROWS_PER_BYTE], 0); 256];
    let mut byte = 0;
    while byte < 256 {
        let (bits, count) = &mut set_bits[byte];
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                bits[*count as usize] = bit;
                *count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    set_bits
}

fn rows_of_bitmap(
    bitmap: &[u8],
    first_row: u32,
    row_count: usize,
) -> Result<Vec<u32>, UnreadableChunk> {
    if count_set_bits(bitmap) != row_count {
        return Err(UnreadableChunk::Malformed("a bitmap has an invalid number of rows"));
    }
    // Row numbers do not overflow, because a bitmap has at most `MAX_CHUNK_BYTES`, and its first row is below
    // `MAX_ROWS`.
    let is_sparse = row_count < bitmap.len();
    Ok(if is_sparse {
        rows_of_sparse_bitmap(bitmap, first_row, row_count)
    } else {
        rows_of_dense_bitmap(bitmap, first_row, row_count)
    })
}

fn count_set_bits(bitmap: &[u8]) -> usize {
    words_of_bitmap(bitmap).map(|word| to_usize(word.count_ones())).sum()
}

/// The last word is padded with zeros.
fn words_of_bitmap(bitmap: &[u8]) -> impl Iterator<Item = u64> {
    let (words, remaining_bytes) = bitmap.as_chunks::<WORD_BYTES>();
    let last_word = padded_word(remaining_bytes);
    words.iter().copied().chain([last_word]).map(u64::from_le_bytes)
}

/// Skips words without rows.
fn rows_of_sparse_bitmap(bitmap: &[u8], first_row: u32, row_count: usize) -> Vec<u32> {
    let mut rows = Vec::with_capacity(row_count);
    let first_rows = (first_row..).step_by(ROWS_PER_WORD);
    for (word_first_row, word) in first_rows.zip(words_of_bitmap(bitmap)) {
        let mut unread_bits = word;
        while unread_bits != 0 {
            rows.push(word_first_row + unread_bits.trailing_zeros());
            unread_bits &= unread_bits - 1;
        }
    }
    rows
}

/// Writes eight rows for each byte and lets the next byte overwrite those that are not set: a branch
/// for each row would take several times as long.
fn rows_of_dense_bitmap(bitmap: &[u8], first_row: u32, row_count: usize) -> Vec<u32> {
    let mut rows = vec![0; row_count + ROWS_PER_BYTE];
    let mut written_rows = 0;
    let mut byte_first_row = first_row;
    for byte in bitmap {
        let Some((bits, bit_count)) = SET_BITS.get(usize::from(*byte)) else { continue };
        let byte_rows = rows.get_mut(written_rows..).and_then(<[u32]>::first_chunk_mut);
        if let Some(byte_rows) = byte_rows {
            *byte_rows = bits.map(|bit| byte_first_row + u32::from(bit));
        }
        written_rows += usize::from(*bit_count);
        byte_first_row += 8;
    }
    rows.truncate(row_count);
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cellar_base::limits::MAX_ROWS;

    fn round(rows: &[u32], anchor: u32) -> (RowEncoding, usize) {
        let EncodedRows { encoding, bytes } = encode_rows(rows, anchor);
        let mut reader = ChunkReader::new(&bytes);
        assert_eq!(read_rows(&mut reader, encoding, anchor, MAX_ROWS).unwrap(), rows);
        assert_eq!(reader.unread_byte_count(), 0);
        let last = rows.last().unwrap();
        assert!(
            read_rows(&mut ChunkReader::new(&bytes), encoding, anchor, *last).is_err(),
            "beyond the limit"
        );
        (encoding, bytes.len())
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
        fn rows_of_every_density_read_back_from_a_bitmap(
            rows in proptest::collection::btree_set(0..2_000_u32, 1..300),
            shift in 0..8_u32,
            first_row in 0..MAX_ROWS - 2_000,
        ) {
            let mut rows: Vec<u32> = rows.into_iter().map(|row| first_row + (row >> shift)).collect();
            rows.dedup();
            let (first_row, last_row) = (rows[0], rows[rows.len() - 1]);
            let bitmap = to_bitmap(&rows, first_row, to_usize(last_row - first_row) + 1);
            prop_assert_eq!(rows_of_bitmap(&bitmap, first_row, rows.len()).unwrap(), rows.clone());
            prop_assert!(rows_of_bitmap(&bitmap, first_row, rows.len() + 1).is_err());
            prop_assert_eq!(rows_of_sparse_bitmap(&bitmap, first_row, rows.len()), rows.clone());
            prop_assert_eq!(rows_of_dense_bitmap(&bitmap, first_row, rows.len()), rows);
        }

        #[test]
        fn any_bytes_are_rows_or_an_error(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            form in 0..4_u8,
            limit in 1..=MAX_ROWS,
        ) {
            if let Ok(rows) = read_rows(&mut ChunkReader::new(&bytes), RowEncoding::from_bits(form), 5, limit) {
                prop_assert!(rows.is_sorted_by(|one, next| one < next));
                prop_assert!(rows.last().is_some_and(|last| *last < limit));
            }
        }
    }

    #[test]
    fn the_smallest_form_is_chosen() {
        assert_eq!(round(&[MAX_ROWS - 1], 0), (RowEncoding::SingleRow, 5));
        assert_eq!(round(&[7], 7), (RowEncoding::SingleRow, 1));
        let run: Vec<u32> = (1_000..200_000).collect();
        assert_eq!(round(&run, 1_000), (RowEncoding::Run, 4));
        let mut random = [0; 10_000];
        blake3::Hasher::new().finalize_xof().fill(&mut random);
        let most = (0..10_000).zip(random).filter(|(_, byte)| *byte > 60).map(|(row, _)| row);
        let most: Vec<u32> = most.collect();
        assert_eq!(round(&most, 0).0, RowEncoding::Bitmap);
        let tenth: Vec<u32> = (0..10_000).map(|row| row * 10).collect();
        assert!(round(&tenth, 0).1 < 10, "regular gaps are one number");
        let few: Vec<u32> = (0..50_u32).map(|row| row * row * 400_000).collect();
        assert_eq!(round(&few, 0).0, RowEncoding::Gaps);
    }

    #[test]
    fn rows_beyond_the_room_of_a_tile_are_refused_before_they_are_there() {
        let read_run = |count: usize| {
            let mut bytes = vec![0];
            write_count(&mut bytes, count);
            read_rows(&mut ChunkReader::new(&bytes), RowEncoding::Run, 0, MAX_ROWS)
        };
        assert_eq!(read_run(MAX_TILE_CELLS).unwrap().len(), MAX_TILE_CELLS);
        assert!(read_run(MAX_TILE_CELLS + 1).is_err() && read_run(usize::MAX).is_err());
        assert!(read_run(0).is_err());
    }
}
