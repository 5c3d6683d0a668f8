//! Offloaded segments: S3 objects that contain the compressed entry records of a segment.

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, decompress};
use crate::records;
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_OFFLOADED_BYTES, MAX_OFFLOADED_OBJECT_BYTES};
use cellar_base::record::{Attribute, Item, RecordError};
use cellar_base::table_attributes::OFFLOADED_PREFIX;

/// First byte of the object, which is the version of the compressed content.
const OFFLOADED_VERSION: u8 = 1;
/// A high but reasonably fast zstd level. The object is written once and rarely read.
const COMPRESSION_LEVEL: i32 = 12;

/// Reason why a segment cannot be offloaded, or why an object is not a valid offloaded segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OffloadedFault {
    /// The object was modified after the segment was offloaded.
    #[error("the offloaded segment does not match the hash in its key; restore the object")]
    HashMismatch,
    /// The object was written by a later release of Cellar.
    #[error(
        "the offloaded segment has version {0}; this build reads version {OFFLOADED_VERSION}; \
         upgrade Cellar"
    )]
    UnknownVersion(u8),
    /// The bytes are malformed or exceed a limit.
    #[error("the offloaded segment cannot be decoded: {0}")]
    Malformed(&'static str),
    /// The offloaded segment contains a record that is not a valid entry.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The entries do not fit into a single object.
    #[error("the segment is too large to be offloaded")]
    TooLarge,
}

#[derive(Serialize, Deserialize)]
enum StoredAttribute {
    Bytes(Vec<u8>),
    Text(String),
    Number(u64),
}

type StoredItem = Vec<(String, StoredAttribute)>;

/// Returns the object key of an offloaded segment. The key contains the object's BLAKE3 hash.
#[must_use]
pub fn offloaded_key(log: LogId, segment: u32, object: &[u8]) -> String {
    format!("{OFFLOADED_PREFIX}{log}/{segment}-{}", blake3::hash(object).to_hex())
}

/// Encodes a segment's entries as an object.
///
/// # Errors
/// Returns [`OffloadedFault::TooLarge`] if the segment exceeds `MAX_OFFLOADED_BYTES` uncompressed
/// or `MAX_OFFLOADED_OBJECT_BYTES` compressed.
pub fn encode_offloaded(entries: &[Entry]) -> Result<Vec<u8>, OffloadedFault> {
    let uncompressed = encode_records(entries)?;
    if uncompressed.len() > MAX_OFFLOADED_BYTES {
        return Err(OffloadedFault::TooLarge);
    }
    let compressed = zstd::bulk::compress(&uncompressed, COMPRESSION_LEVEL)
        .map_err(|_| OffloadedFault::Malformed("the records cannot be compressed"))?;
    let object = [&[OFFLOADED_VERSION], compressed.as_slice()].concat();
    check_object_size(object.len())?;
    Ok(object)
}

fn encode_records(entries: &[Entry]) -> Result<Vec<u8>, OffloadedFault> {
    let mut items: Vec<StoredItem> = Vec::with_capacity(entries.len());
    for entry in entries {
        items.push(to_stored_item(records::entry::encode(entry)?)?);
    }
    postcard::to_allocvec(&items)
        .map_err(|_| OffloadedFault::Malformed("the records cannot be encoded"))
}

pub(super) fn check_object_size(object_bytes: usize) -> Result<(), OffloadedFault> {
    if object_bytes > MAX_OFFLOADED_OBJECT_BYTES { Err(OffloadedFault::TooLarge) } else { Ok(()) }
}

/// Decodes an offloaded segment and verifies the hash in its key. Never panics on malformed bytes,
/// and uses a bounded amount of memory.
///
/// # Errors
/// Returns an [`OffloadedFault`] if the object is not a valid offloaded segment.
pub fn decode_offloaded(key: &str, object: &[u8]) -> Result<Vec<Entry>, OffloadedFault> {
    if !key.ends_with(blake3::hash(object).to_hex().as_str()) {
        return Err(OffloadedFault::HashMismatch);
    }
    let (version, compressed) =
        object.split_first().ok_or(OffloadedFault::Malformed("it is empty"))?;
    if *version != OFFLOADED_VERSION {
        return Err(OffloadedFault::UnknownVersion(*version));
    }
    let uncompressed = decompress(compressed, MAX_OFFLOADED_BYTES).map_err(|_| {
        OffloadedFault::Malformed("the object cannot be decompressed within the size limit")
    })?;
    decode_records(&uncompressed)
}

fn decode_records(uncompressed: &[u8]) -> Result<Vec<Entry>, OffloadedFault> {
    let (items, trailing_bytes) = postcard::take_from_bytes::<Vec<StoredItem>>(uncompressed)
        .map_err(|_| OffloadedFault::Malformed("its records cannot be decoded"))?;
    if !trailing_bytes.is_empty() {
        return Err(OffloadedFault::Malformed("there are bytes after its records"));
    }
    items.into_iter().map(|item| Ok(records::entry::decode(&from_stored_item(item))?)).collect()
}

/// List and map attributes are not supported, because no entry record contains them.
fn to_stored_item(item: Item) -> Result<StoredItem, OffloadedFault> {
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

fn from_stored_item(item: StoredItem) -> Item {
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
