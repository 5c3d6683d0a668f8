//! S3 keys of snapshot objects, `sheets/{log}/chunks/{hash}` and `sheets/{log}/roots/{hash}`, and
//! the keys under which clients upload chunks that are not verified yet.

use std::fmt;
use std::str::FromStr;

use super::chunk_ref::ChunkHash;
use cellar_base::hexadecimal::hexadecimal;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::table_attributes::UPLOADS_PREFIX;

const SHEETS: &str = "sheets";
const CHUNKS: &str = "chunks";
const ROOTS: &str = "roots";

/// A parsed snapshot object key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectKey {
    /// Log id in the key.
    pub log: LogId,
    /// Name of the object.
    pub hash: ChunkHash,
}

/// The string is not a valid key of the expected kind of object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a {kind} key: expected sheets/ID/{kind}s/HASH, where ID is a spreadsheet id and \
     HASH has 64 hexadecimal digits"
)]
pub struct NotAnObjectKey {
    /// The rejected text.
    pub text: String,
    /// Expected object kind: `chunk` or `root`.
    pub kind: &'static str,
}

/// The string is not a valid snapshot object name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a snapshot object's name must have 64 lowercase hexadecimal digits")]
pub struct NotAHash;

/// Returns the S3 key of a chunk.
#[must_use]
pub fn chunk_key(log: LogId, hash: ChunkHash) -> String {
    format!("{SHEETS}/{log}/{CHUNKS}/{hash}")
}

/// Returns the S3 key under which a client uploads a chunk. The key contains the client key, so an
/// upload cannot overwrite objects of other clients or logs.
#[must_use]
pub fn staged_chunk_key(log: LogId, client: ClientKey, hash: ChunkHash) -> String {
    format!("{UPLOADS_PREFIX}{log}/{}/{hash}", hexadecimal(&client.0))
}

/// Returns the S3 key of a root.
#[must_use]
pub fn root_key(log: LogId, hash: ChunkHash) -> String {
    format!("{SHEETS}/{log}/{ROOTS}/{hash}")
}

/// Parses a chunk key. Accepts only the exact form that [`chunk_key`] returns, so that each object
/// has a single valid key.
///
/// # Errors
/// Returns [`NotAnObjectKey`] for any other string.
pub fn parse_chunk_key(text: &str) -> Result<ObjectKey, NotAnObjectKey> {
    match parse_key(text, CHUNKS) {
        Some(key) if chunk_key(key.log, key.hash) == text => Ok(key),
        _ => Err(NotAnObjectKey { text: text.to_owned(), kind: "chunk" }),
    }
}

/// Parses a root key. Accepts only the exact form that [`root_key`] returns, so that each object
/// has a single valid key.
///
/// # Errors
/// Returns [`NotAnObjectKey`] for any other string.
pub fn parse_root_key(text: &str) -> Result<ObjectKey, NotAnObjectKey> {
    match parse_key(text, ROOTS) {
        Some(key) if root_key(key.log, key.hash) == text => Ok(key),
        _ => Err(NotAnObjectKey { text: text.to_owned(), kind: "root" }),
    }
}

/// The log id need not be in canonical form.
fn parse_key(text: &str, folder: &str) -> Option<ObjectKey> {
    let path_in_sheets = text.strip_prefix(SHEETS)?.strip_prefix('/')?;
    let (log, path_in_log) = path_in_sheets.split_once('/')?;
    let hash = path_in_log.strip_prefix(folder)?.strip_prefix('/')?;
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
        let (digit_pairs, unpaired_digit) = text.as_bytes().as_chunks::<2>();
        let mut hash = [0; 32];
        if !unpaired_digit.is_empty() || digit_pairs.len() != hash.len() {
            return Err(NotAHash);
        }
        for (byte, [high_digit, low_digit]) in hash.iter_mut().zip(digit_pairs) {
            *byte = hex_digit_value(*high_digit)? << 4 | hex_digit_value(*low_digit)?;
        }
        Ok(Self(hash))
    }
}

fn hex_digit_value(digit: u8) -> Result<u8, NotAHash> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotAHash),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_base::table_attributes::{CHUNKS_PATTERN, SHEETS_PREFIX};

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
    fn any_other_text_is_not_a_key() {
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
