//! Where the objects of a snapshot are in the bucket: `sheets/{log}/chunks/{hash}` and
//! `sheets/{log}/roots/{hash}`; and where a client uploads chunks that nobody has verified yet.

use std::fmt;
use std::str::FromStr;

use super::level::ChunkHash;
use cellar_base::hexadecimal::hexadecimal;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::schema::UPLOADS_PREFIX;

const FOLDER: &str = "sheets";
const CHUNKS: &str = "chunks";
const ROOTS: &str = "roots";

/// What a key of a snapshot's object says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectKey {
    /// The log.
    pub log: LogId,
    /// The object's name.
    pub hash: ChunkHash,
}

/// A text that is no key of such an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no key of a {kind}: it is sheets/, a spreadsheet's id, /{kind}s/ and 64 digits"
)]
pub struct NotAnObjectKey {
    /// As given.
    pub text: String,
    /// `chunk` or `root`.
    pub kind: &'static str,
}

/// A text that is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an object's name is 64 lowercase hexadecimal digits")]
pub struct NotAHash;

/// The key of a chunk.
#[must_use]
pub fn chunk_key(log: LogId, hash: ChunkHash) -> String {
    format!("{FOLDER}/{log}/{CHUNKS}/{hash}")
}

/// Returns the key under which a client uploads a chunk: one of its own, so that no upload takes a
/// name that another client or another log needs.
#[must_use]
pub fn staged_chunk_key(log: LogId, client: ClientKey, hash: ChunkHash) -> String {
    format!("{UPLOADS_PREFIX}{log}/{}/{hash}", hexadecimal(&client.0))
}

/// The key of a root.
#[must_use]
pub fn root_key(log: LogId, hash: ChunkHash) -> String {
    format!("{FOLDER}/{log}/{ROOTS}/{hash}")
}

/// Reads a chunk's key: only what [`chunk_key`] writes, so that an object has one key.
///
/// # Errors
/// [`NotAnObjectKey`] with the text.
pub fn parse_chunk_key(text: &str) -> Result<ObjectKey, NotAnObjectKey> {
    let fault = || NotAnObjectKey { text: text.to_owned(), kind: "chunk" };
    let key = parts(text, CHUNKS).ok_or_else(fault)?;
    (chunk_key(key.log, key.hash) == text).then_some(key).ok_or_else(fault)
}

/// Reads a root's key, as [`parse_chunk_key`].
///
/// # Errors
/// [`NotAnObjectKey`] with the text.
pub fn parse_root_key(text: &str) -> Result<ObjectKey, NotAnObjectKey> {
    let fault = || NotAnObjectKey { text: text.to_owned(), kind: "root" };
    let key = parts(text, ROOTS).ok_or_else(fault)?;
    (root_key(key.log, key.hash) == text).then_some(key).ok_or_else(fault)
}

fn parts(text: &str, kind: &str) -> Option<ObjectKey> {
    let rest = text.strip_prefix(FOLDER)?.strip_prefix('/')?;
    let (log, rest) = rest.split_once('/')?;
    let hash = rest.strip_prefix(kind)?.strip_prefix('/')?;
    Some(ObjectKey { log: log.parse().ok()?, hash: hash.parse().ok()? })
}

impl fmt::Display for ChunkHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl FromStr for ChunkHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
            b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
            _ => None,
        };
        let pairs = text.as_bytes().as_chunks::<2>();
        let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
        let bytes: Option<Vec<u8>> = pairs.0.iter().map(byte).collect();
        let bytes = bytes.filter(|_| pairs.1.is_empty()).ok_or(NotAHash)?;
        bytes.try_into().map(Self).map_err(|_| NotAHash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::schema::{CHUNKS_PATTERN, SHEETS_PREFIX};

    const LOG: &str = "0190ab3c-0000-8000-8000-0123456789ab";

    #[test]
    fn keys_read_back() {
        let log: LogId = LOG.parse().unwrap();
        let hash = ChunkHash::of(b"cells");
        let (chunk, root) = (chunk_key(log, hash), root_key(log, hash));
        let staged = staged_chunk_key(log, ClientKey([0xc1; 8]), hash);
        assert_eq!(staged, format!("uploads/{LOG}/c1c1c1c1c1c1c1c1/{hash}"));
        assert!(parse_chunk_key(&staged).is_err());
        assert_eq!(chunk, format!("sheets/{LOG}/chunks/{hash}"));
        assert_eq!(root, format!("sheets/{LOG}/roots/{hash}"));
        assert_eq!(parse_chunk_key(&chunk), Ok(ObjectKey { log, hash }));
        assert_eq!(parse_root_key(&root), Ok(ObjectKey { log, hash }));
        assert!(parse_chunk_key(&root).is_err() && parse_root_key(&chunk).is_err());
        let pattern: Vec<&str> = CHUNKS_PATTERN.split('*').collect();
        assert_eq!(pattern, [SHEETS_PREFIX, "/chunks/", ""]);
        let is_chunk = |key: &str| key.starts_with(pattern[0]) && key.contains(pattern[1]);
        assert!(is_chunk(&chunk) && !is_chunk(&root));
    }

    #[test]
    fn nothing_else_is_a_key() {
        let digits = ChunkHash([0xab; 32]).to_string();
        assert_eq!(digits.parse(), Ok(ChunkHash([0xab; 32])));
        let upper = LOG.to_uppercase();
        let plain = LOG.replace('-', "");
        for bad in [
            String::new(),
            format!("sheets/{LOG}/chunks/"),
            format!("/sheets/{LOG}/chunks/{digits}"),
            format!("sheets/{LOG}/chunks/{digits}0"),
            format!("sheets/{LOG}/chunks/{digits}00"),
            format!("sheets/{LOG}/chunks/{}", "ab".repeat(31)),
            format!("sheets/{LOG}/chunks/{}", digits.to_uppercase()),
            format!("sheets/{LOG}/chunks/{}ag", "ab".repeat(31)),
            format!("sheets/{LOG}/chunks/{digits}/"),
            format!("sheets/{LOG}//{digits}"),
            format!("sheets/{upper}/chunks/{digits}"),
            format!("sheets/{plain}/chunks/{digits}"),
            format!("uploads/{LOG}/chunks/{digits}"),
        ] {
            let fault = NotAnObjectKey { text: bad.clone(), kind: "chunk" };
            assert_eq!(parse_chunk_key(&bad), Err(fault), "{bad}");
        }
    }
}
