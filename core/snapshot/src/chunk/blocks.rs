//! Splits bytes into zstd blocks at the points where the byte statistics change. All bytes of a
//! zstd block share one entropy table. A block that mixes digits and random bits, for example,
//! would compress poorly.

use super::estimate::ByteCounts;

/// Length in bytes of the pieces whose byte statistics are compared to find the block boundaries.
const PIECE_BYTES: usize = 512;
/// Estimated overhead per block in bytes. It is larger than the real overhead, because the entropy
/// of small pieces is underestimated.
const BLOCK_COST_BYTES: usize = 64;

pub(super) fn split_into_blocks(bytes: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let mut block_start = 0;
    let mut block_end = 0;
    let mut block_counts = ByteCounts::default();
    let mut block_size = 0;
    for piece in bytes.chunks(PIECE_BYTES) {
        let piece_counts = ByteCounts::of(piece);
        let piece_size = piece_counts.estimate_compressed_size();
        let joined_counts = block_counts.plus(&piece_counts);
        let joined_size = joined_counts.estimate_compressed_size();
        let has_earlier_piece = block_end > block_start;
        let is_smaller_apart = joined_size > block_size + piece_size + BLOCK_COST_BYTES;
        if has_earlier_piece && is_smaller_apart {
            blocks.push(bytes.get(block_start..block_end).unwrap_or_default());
            block_start = block_end;
            block_counts = piece_counts;
            block_size = piece_size;
        } else {
            block_counts = joined_counts;
            block_size = joined_size;
        }
        block_end += piece.len();
    }
    blocks.push(bytes.get(block_start..).unwrap_or_default());
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_cut_where_they_change_and_none_is_lost() {
        let random: Vec<u8> = (0..8_u64)
            .flat_map(|number| {
                let mut bytes = [0; 1_024];
                blake3::Hasher::new().update(&number.to_le_bytes()).finalize_xof().fill(&mut bytes);
                bytes
            })
            .collect();
        let digits: Vec<u8> = random.iter().map(|byte| b'0' + byte % 10).collect();
        let all = [random.as_slice(), &digits, &random, b"end"].concat();
        let cut = split_into_blocks(&all);
        assert_eq!(cut.iter().map(|block| block.len()).collect::<Vec<_>>(), [8_192, 8_192, 8_195]);
        assert_eq!(cut.concat(), all);
        assert_eq!(split_into_blocks(&random), [random.as_slice()]);
        assert_eq!(split_into_blocks(&[]), [b""]);
    }
}
