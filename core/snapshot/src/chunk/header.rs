//! Chunk header: magic bytes, version and kind.

use super::bytes::ChunkReader;
use super::error::UnreadableChunk;
use cellar_base::limits::MAX_CHUNK_BYTES;

const MAGIC: [u8; 2] = *b"Cc";
/// Current format version, which is the only version that can be read.
pub(super) const VERSION: u8 = 1;
const HEADER_BYTES: usize = 4;

/// The stored numbers must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkKind {
    Tile = 1,
}

impl ChunkKind {
    fn number(self) -> u8 {
        self as u8
    }
}

pub(super) fn chunk_header(kind: ChunkKind) -> [u8; HEADER_BYTES] {
    let [first_magic_byte, second_magic_byte] = MAGIC;
    [first_magic_byte, second_magic_byte, VERSION, kind.number()]
}

pub(super) fn open_chunk(
    bytes: &[u8],
    expected_kind: ChunkKind,
) -> Result<ChunkReader<'_>, UnreadableChunk> {
    if bytes.len() > MAX_CHUNK_BYTES {
        return Err(UnreadableChunk::TooLarge("the length exceeds the maximum length of a chunk"));
    }
    let (header, content) =
        bytes.split_first_chunk::<HEADER_BYTES>().ok_or(UnreadableChunk::NoChunk)?;
    let [first_magic_byte, second_magic_byte, version, kind] = *header;
    if [first_magic_byte, second_magic_byte] != MAGIC {
        return Err(UnreadableChunk::NoChunk);
    }
    if version != VERSION {
        return Err(UnreadableChunk::UnknownVersion { version });
    }
    if kind != expected_kind.number() {
        return Err(UnreadableChunk::OtherKind { kind });
    }
    Ok(ChunkReader::new(content))
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
            let mut chunk = chunk_header(ChunkKind::Tile).to_vec();
            chunk.resize(bytes, 0);
            error(&chunk)
        };
        assert_eq!(sized(MAX_CHUNK_BYTES), None);
        assert!(matches!(sized(MAX_CHUNK_BYTES + 1), Some(UnreadableChunk::TooLarge(_))));
    }
}
