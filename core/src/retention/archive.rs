//! A segment as one object: its records as they were stored, compressed.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::identity::LogId;
use crate::limits::{MAX_ARCHIVE_BYTES, MAX_ARCHIVED_BYTES};
use crate::records::{self, Attribute, Item, RecordError};
use crate::schema::ARCHIVE_PREFIX;

/// The first byte of an object: the version of what is behind it, compressed with zstd.
const ARCHIVE_VERSION: u8 = 1;
/// Written once, read rarely: a high level that is still quick.
const COMPRESSION_LEVEL: i32 = 12;

/// An object that is no archive of a segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveFault {
    /// Bytes that were changed since the archive was made.
    #[error("the archive is not what its key says: it was changed or cut")]
    OtherHash,
    /// A version of a later Cellar.
    #[error("the archive has version {0}, this build reads {ARCHIVE_VERSION}: upgrade it")]
    UnknownVersion(u8),
    /// Bytes that do not decode, or too many of them.
    #[error("the archive does not decode: {0}")]
    Malformed(&'static str),
    /// A record that is no entry.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// More than fits one object.
    #[error("the segment is too large for an archive")]
    TooLarge,
}

#[derive(Serialize, Deserialize)]
enum StoredAttribute {
    Bytes(Vec<u8>),
    Text(String),
    Number(u64),
}

type StoredItem = Vec<(String, StoredAttribute)>;

/// The key of a segment's archive: it names the content.
#[must_use]
pub fn archive_key(log: LogId, segment: u32, object: &[u8]) -> String {
    format!("{ARCHIVE_PREFIX}{log}/{segment}-{}", blake3::hash(object).to_hex())
}

/// Packs entries.
///
/// # Errors
/// [`ArchiveFault::TooLarge`] beyond `MAX_ARCHIVED_BYTES` unpacked or `MAX_ARCHIVE_BYTES` packed.
pub fn encode_archive(entries: &[Entry]) -> Result<Vec<u8>, ArchiveFault> {
    let items = entries.iter().map(|entry| stored(records::entry::encode(entry)?));
    let items = items.collect::<Result<Vec<StoredItem>, ArchiveFault>>()?;
    let malformed = |_| ArchiveFault::Malformed("it cannot be packed");
    let plain = postcard::to_allocvec(&items).map_err(malformed)?;
    drop(items);
    if plain.len() > MAX_ARCHIVED_BYTES {
        return Err(ArchiveFault::TooLarge);
    }
    let packed = zstd::bulk::compress(&plain, COMPRESSION_LEVEL)
        .map_err(|_| ArchiveFault::Malformed("it cannot be packed"))?;
    within_limit([&[ARCHIVE_VERSION], packed.as_slice()].concat())
}

/// The object, unless it is longer than an archive may be.
pub(super) fn within_limit(object: Vec<u8>) -> Result<Vec<u8>, ArchiveFault> {
    if object.len() > MAX_ARCHIVE_BYTES { Err(ArchiveFault::TooLarge) } else { Ok(object) }
}

/// Reads an archive and checks it against its key; total, with bounded memory.
///
/// # Errors
/// [`ArchiveFault`] with what is wrong.
pub fn decode_archive(key: &str, object: &[u8]) -> Result<Vec<Entry>, ArchiveFault> {
    if !key.ends_with(blake3::hash(object).to_hex().as_str()) {
        return Err(ArchiveFault::OtherHash);
    }
    let (version, packed) = object.split_first().ok_or(ArchiveFault::Malformed("it is empty"))?;
    if *version != ARCHIVE_VERSION {
        return Err(ArchiveFault::UnknownVersion(*version));
    }
    let plain = crate::entry::decompress(packed, MAX_ARCHIVED_BYTES)
        .map_err(|_| ArchiveFault::Malformed("it does not decompress within its limit"))?;
    let malformed = |_| ArchiveFault::Malformed("its records do not decode");
    let (items, rest) = postcard::take_from_bytes::<Vec<StoredItem>>(&plain).map_err(malformed)?;
    if !rest.is_empty() {
        return Err(ArchiveFault::Malformed("there are bytes behind its records"));
    }
    items.into_iter().map(|item| Ok(records::entry::decode(&read(item))?)).collect()
}

/// Entries have no lists and maps: an archive's layout has no place for them.
fn stored(item: Item) -> Result<StoredItem, ArchiveFault> {
    let attributes = item.into_iter().map(|(name, attribute)| {
        let attribute = match attribute {
            Attribute::Bytes(bytes) => StoredAttribute::Bytes(bytes),
            Attribute::Text(text) => StoredAttribute::Text(text),
            Attribute::Number(number) => StoredAttribute::Number(number),
            Attribute::List(_) | Attribute::Map(_) => {
                return Err(ArchiveFault::Malformed("an entry has a list or map"));
            }
        };
        Ok((name, attribute))
    });
    attributes.collect()
}

fn read(item: StoredItem) -> Item {
    let attributes = item.into_iter().map(|(name, attribute)| {
        let attribute = match attribute {
            StoredAttribute::Bytes(bytes) => Attribute::Bytes(bytes),
            StoredAttribute::Text(text) => Attribute::Text(text),
            StoredAttribute::Number(number) => Attribute::Number(number),
        };
        (name, attribute)
    });
    attributes.collect()
}
