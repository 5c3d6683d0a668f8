//! Chunk header: magic bytes, version and kind.

use super::bytes::ChunkReader;
use super::error::UnreadableChunk;
use cellar_base::limits::MAX_CHUNK_BYTES;

const MAGIC: [u8; 2] = *b"Cc";
/// Newest format version. All older versions can be read.
pub(super) const NEWEST_VERSION: u8 = ChunkVersion::Templates as u8;
const HEADER_BYTES: usize = 4;

/// Versions of the format. The stored numbers must never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkVersion {
    /// Formulas are texts.
    Texts = 1,
    /// Formulas are templates, or texts.
    Templates = 2,
}

impl ChunkVersion {
    fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Texts, Self::Templates].into_iter().find(|version| version.number() == number)
    }
}

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

pub(super) fn chunk_header(kind: ChunkKind, version: ChunkVersion) -> [u8; HEADER_BYTES] {
    let [first_magic_byte, second_magic_byte] = MAGIC;
    [first_magic_byte, second_magic_byte, version.number(), kind.number()]
}

pub(super) fn open_chunk(
    bytes: &[u8],
    expected_kind: ChunkKind,
) -> Result<(ChunkReader<'_>, ChunkVersion), UnreadableChunk> {
    if bytes.len() > MAX_CHUNK_BYTES {
        return Err(UnreadableChunk::TooLarge("the length exceeds the maximum length of a chunk"));
    }
    let (header, content) =
        bytes.split_first_chunk::<HEADER_BYTES>().ok_or(UnreadableChunk::NoChunk)?;
    let [first_magic_byte, second_magic_byte, version, kind] = *header;
    if [first_magic_byte, second_magic_byte] != MAGIC {
        return Err(UnreadableChunk::NoChunk);
    }
    let known_version =
        ChunkVersion::from_number(version).ok_or(UnreadableChunk::UnknownVersion { version })?;
    if kind != expected_kind.number() {
        return Err(UnreadableChunk::OtherKind { kind });
    }
    Ok((ChunkReader::new(content), known_version))
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
        assert_eq!(error(b"Cc\x02\x01"), None);
        for version in [0, 3] {
            let unknown = UnreadableChunk::UnknownVersion { version };
            assert_eq!(error(&[b'C', b'c', version, 1]), Some(unknown));
        }
        assert_eq!(error(b"Cc\x01\x02"), Some(UnreadableChunk::OtherKind { kind: 2 }));
        let sized = |bytes: usize| {
            let mut chunk = chunk_header(ChunkKind::Tile, ChunkVersion::Texts).to_vec();
            chunk.resize(bytes, 0);
            error(&chunk)
        };
        assert_eq!(sized(MAX_CHUNK_BYTES), None);
        assert!(matches!(sized(MAX_CHUNK_BYTES + 1), Some(UnreadableChunk::TooLarge(_))));
    }
}
