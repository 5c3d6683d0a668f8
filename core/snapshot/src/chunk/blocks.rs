//! Where bytes change their nature: each block of zstd has one table of codes, which serves digits
//! and random bits badly if both are in it.

use super::estimate::Counts;

/// Bytes that are looked at together.
const PIECE_BYTES: usize = 512;
/// Bytes that a block costs, and what a small piece seems to have too little of entropy.
const BLOCK_COST_BYTES: usize = 64;

/// Cuts `bytes` into blocks.
pub(super) fn blocks(bytes: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let (mut start, mut end) = (0, 0);
    let mut counts = Counts::default();
    let mut cost = 0;
    for piece in bytes.chunks(PIECE_BYTES) {
        let of_piece = Counts::of(piece);
        let both = counts.and(&of_piece);
        let (cost_of_piece, cost_of_both) = (of_piece.packed_bytes(), both.packed_bytes());
        if end > start && cost_of_both > cost + cost_of_piece + BLOCK_COST_BYTES {
            blocks.push(bytes.get(start..end).unwrap_or_default());
            (start, counts, cost) = (end, of_piece, cost_of_piece);
        } else {
            (counts, cost) = (both, cost_of_both);
        }
        end += piece.len();
    }
    blocks.push(bytes.get(start..end).unwrap_or_default());
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
        let cut = blocks(&all);
        assert_eq!(cut.iter().map(|block| block.len()).collect::<Vec<_>>(), [8_192, 8_192, 8_195]);
        assert_eq!(cut.concat(), all);
        assert_eq!(blocks(&random), [random.as_slice()]);
        assert_eq!(blocks(&[]), [b""]);
    }
}
