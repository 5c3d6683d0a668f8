//! The first bytes of every chunk: what it is, and in which version.

use super::bytes::Reader;
use super::error::UnreadableChunk;
use cellar_base::limits::MAX_CHUNK_BYTES;

/// How every chunk begins.
const MAGIC: [u8; 2] = *b"Cc";
/// The version that is written, and the only one that is read.
pub(super) const VERSION: u8 = 1;

/// What a chunk holds. The numbers are those of stored chunks: never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// A tile.
    Tile,
}

impl ChunkKind {
    fn number(self) -> u8 {
        match self {
            Self::Tile => 1,
        }
    }
}

/// The first bytes of a chunk.
pub(super) fn header(kind: ChunkKind) -> [u8; 4] {
    let [first, second] = MAGIC;
    [first, second, VERSION, kind.number()]
}

/// Begins to read a chunk of this kind.
pub(super) fn open(bytes: &[u8], kind: ChunkKind) -> Result<Reader<'_>, UnreadableChunk> {
    if bytes.len() > MAX_CHUNK_BYTES {
        return Err(UnreadableChunk::TooLarge("it has more bytes than any may have"));
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
    fn what_begins_otherwise_is_refused_by_what_differs() {
        let error = |bytes: &[u8]| open(bytes, ChunkKind::Tile).err();
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
