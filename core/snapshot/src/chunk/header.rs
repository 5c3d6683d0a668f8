//! Chunk header: magic bytes, version and kind.

use super::bytes::Reader;
use super::error::UnreadableChunk;
use cellar_base::limits::MAX_CHUNK_BYTES;

/// Magic bytes of every chunk.
const MAGIC: [u8; 2] = *b"Cc";
/// Current format version. No other version can be read.
pub(super) const VERSION: u8 = 1;

/// Chunk kind. Stored numbers must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// Contains a tile.
    Tile,
}

impl ChunkKind {
    fn number(self) -> u8 {
        match self {
            Self::Tile => 1,
        }
    }
}

/// Returns a chunk header.
pub(super) fn header(kind: ChunkKind) -> [u8; 4] {
    let [first, second] = MAGIC;
    [first, second, VERSION, kind.number()]
}

/// Checks a chunk header and returns a reader for the rest of the chunk.
pub(super) fn open_chunk(bytes: &[u8], kind: ChunkKind) -> Result<Reader<'_>, UnreadableChunk> {
    if bytes.len() > MAX_CHUNK_BYTES {
        return Err(UnreadableChunk::TooLarge("it exceeds the maximum length of a chunk"));
    }
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or(UnreadableChunk::NoChunk)?;
    match *head {
        [first, second, _, _] if [first, second] != MAGIC => Err(UnreadableChunk::NoChunk),
        [_, _, version, _] if version != VERSION => {
            Err(UnreadableChunk::UnknownVersion { version })
        }
        [_, _, _, other] if other != kind.number() => {
            Err(UnreadableChunk::OtherKind { kind: other })
        }
        _ => Ok(Reader::new(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_header_is_rejected_with_the_reason() {
        let error = |bytes: &[u8]| open_chunk(bytes, ChunkKind::Tile).err();
        assert_eq!(error(b"Cc\x01\x01"), None);
        assert_eq!(error(b"Cc\x01"), Some(UnreadableChunk::NoChunk));
        assert_eq!(error(b"cC\x01\x01"), Some(UnreadableChunk::NoChunk));
        assert_eq!(error(b"Cc\x02\x01"), Some(UnreadableChunk::UnknownVersion { version: 2 }));
        assert_eq!(error(b"Cc\x01\x02"), Some(UnreadableChunk::OtherKind { kind: 2 }));
        let sized = |bytes: usize| {
            let mut chunk = header(ChunkKind::Tile).to_vec();
            chunk.resize(bytes, 0);
            error(&chunk)
        };
        assert_eq!(sized(MAX_CHUNK_BYTES), None);
        assert!(matches!(sized(MAX_CHUNK_BYTES + 1), Some(UnreadableChunk::TooLarge(_))));
    }
}
