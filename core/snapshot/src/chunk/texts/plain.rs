//! Texts one behind the other: lengths, then bytes.

use super::{Form, Written, limit, push_texts};
use crate::chunk::bytes::Reader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::{estimate, integers};
use crate::tile::TextSpan;

pub(super) fn write(texts: &[&str]) -> Written {
    let mut bytes = vec![Form::Plain.number()];
    let lengths = integers::write_counts(&mut bytes, texts.iter().map(|text| text.len()));
    let front = bytes.len();
    bytes.reserve(texts.iter().map(|text| text.len()).sum());
    texts.iter().for_each(|text| bytes.extend_from_slice(text.as_bytes()));
    let letters = bytes.get(front..).unwrap_or_default();
    let cost = 1 + lengths + estimate::packed_bytes(letters);
    Written { bytes, cost, expanded: 0 }
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    most_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let lengths = integers::read_counts(reader, count, limit(most_bytes))?;
    let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    let bytes = reader.bytes(usize::try_from(total).unwrap_or(usize::MAX))?;
    push_texts(texts, bytes, &lengths)
}
