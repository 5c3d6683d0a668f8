//! Plain texts: the lengths of all texts, followed by their bytes.

use super::{Form, Written, push_texts, saturate_u32};
use crate::chunk::bytes::Reader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::{estimate, integers};
use crate::tile::TextSpan;

pub(super) fn write(texts: &[&str]) -> Written {
    let mut bytes = vec![Form::Plain.number()];
    let lengths_cost = integers::write_counts(&mut bytes, texts.iter().map(|text| text.len()));
    let texts_start = bytes.len();
    bytes.reserve(texts.iter().map(|text| text.len()).sum());
    texts.iter().for_each(|text| bytes.extend_from_slice(text.as_bytes()));
    let text_bytes = bytes.get(texts_start..).unwrap_or_default();
    let cost = 1 + lengths_cost + estimate::packed_bytes(text_bytes);
    Written { bytes, cost, expanded: 0 }
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    max_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let lengths = integers::read_counts(reader, count, saturate_u32(max_bytes))?;
    let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    let bytes = reader.bytes(usize::try_from(total).unwrap_or(usize::MAX))?;
    push_texts(texts, bytes, &lengths)
}
