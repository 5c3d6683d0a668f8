//! An offloaded segment as one object: its records as stored, compressed.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::records;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_OFFLOADED_BYTES, MAX_OFFLOADED_OBJECT_BYTES};
use cellar_base::record::{Attribute, Item, RecordError};
use cellar_base::schema::OFFLOADED_PREFIX;

/// First byte of the object: the version of the zstd-compressed content after it.
const OFFLOADED_VERSION: u8 = 1;
/// Written once and read rarely: a high level that is still fast.
const COMPRESSION_LEVEL: i32 = 12;

/// An object that is not an offloaded segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OffloadedFault {
    /// The bytes were changed after the segment was offloaded.
    #[error("the offloaded segment is not what its key says: it was changed or cut")]
    OtherHash,
    /// Version of a later Cellar.
    #[error(
        "the offloaded segment has version {0}, this build reads {OFFLOADED_VERSION}: upgrade it"
    )]
    UnknownVersion(u8),
    /// The bytes do not decode, or there are too many.
    #[error("the offloaded segment does not decode: {0}")]
    Malformed(&'static str),
    /// A record that is not an entry.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The entries exceed the size of one object.
    #[error("the segment is too large for an offloaded segment")]
    TooLarge,
}

#[derive(Serialize, Deserialize)]
enum StoredAttribute {
    Bytes(Vec<u8>),
    Text(String),
    Number(u64),
}

type StoredItem = Vec<(String, StoredAttribute)>;

/// Returns the key of an offloaded segment, which contains the hash of its content.
#[must_use]
pub fn offloaded_key(log: LogId, segment: u32, object: &[u8]) -> String {
    format!("{OFFLOADED_PREFIX}{log}/{segment}-{}", blake3::hash(object).to_hex())
}

/// Encodes entries.
///
/// # Errors
/// [`OffloadedFault::TooLarge`] above `MAX_OFFLOADED_BYTES` uncompressed or
/// `MAX_OFFLOADED_OBJECT_BYTES` compressed.
pub fn encode_offloaded(entries: &[Entry]) -> Result<Vec<u8>, OffloadedFault> {
    let items = entries.iter().map(|entry| stored(records::entry::encode(entry)?));
    let items = items.collect::<Result<Vec<StoredItem>, OffloadedFault>>()?;
    let malformed = |_| OffloadedFault::Malformed("it cannot be packed");
    let plain = postcard::to_allocvec(&items).map_err(malformed)?;
    drop(items);
    if plain.len() > MAX_OFFLOADED_BYTES {
        return Err(OffloadedFault::TooLarge);
    }
    let packed = zstd::bulk::compress(&plain, COMPRESSION_LEVEL)
        .map_err(|_| OffloadedFault::Malformed("it cannot be packed"))?;
    within_limit([&[OFFLOADED_VERSION], packed.as_slice()].concat())
}

/// Returns the object, unless it is too long.
pub(super) fn within_limit(object: Vec<u8>) -> Result<Vec<u8>, OffloadedFault> {
    if object.len() > MAX_OFFLOADED_OBJECT_BYTES {
        Err(OffloadedFault::TooLarge)
    } else {
        Ok(object)
    }
}

/// Decodes an offloaded segment and checks it against its key; total, with bounded memory.
///
/// # Errors
/// [`OffloadedFault`] with the reason.
pub fn decode_offloaded(key: &str, object: &[u8]) -> Result<Vec<Entry>, OffloadedFault> {
    if !key.ends_with(blake3::hash(object).to_hex().as_str()) {
        return Err(OffloadedFault::OtherHash);
    }
    let (version, packed) = object.split_first().ok_or(OffloadedFault::Malformed("it is empty"))?;
    if *version != OFFLOADED_VERSION {
        return Err(OffloadedFault::UnknownVersion(*version));
    }
    let plain = crate::entry::decompress(packed, MAX_OFFLOADED_BYTES)
        .map_err(|_| OffloadedFault::Malformed("it does not decompress within its limit"))?;
    let malformed = |_| OffloadedFault::Malformed("its records do not decode");
    let (items, rest) = postcard::take_from_bytes::<Vec<StoredItem>>(&plain).map_err(malformed)?;
    if !rest.is_empty() {
        return Err(OffloadedFault::Malformed("there are bytes behind its records"));
    }
    items.into_iter().map(|item| Ok(records::entry::decode(&read(item))?)).collect()
}

/// Entries contain no lists or maps, so the layout has none.
fn stored(item: Item) -> Result<StoredItem, OffloadedFault> {
    let attributes = item.into_iter().map(|(name, attribute)| {
        let attribute = match attribute {
            Attribute::Bytes(bytes) => StoredAttribute::Bytes(bytes),
            Attribute::Text(text) => StoredAttribute::Text(text),
            Attribute::Number(number) => StoredAttribute::Number(number),
            Attribute::List(_) | Attribute::Map(_) => {
                return Err(OffloadedFault::Malformed("an entry has a list or map"));
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
