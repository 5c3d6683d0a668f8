//! Plain encoding of strings: the lengths of all strings, followed by their bytes.

use super::{ENCODING_BYTES, EncodedTexts, TextEncoding, push_texts};
use crate::chunk::bytes::ChunkReader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::{estimate, integers};
use crate::saturate::saturate_u32;
use crate::tile::TextSpan;

pub(super) fn encode_plain(texts: &[&str]) -> EncodedTexts {
    let mut bytes = vec![TextEncoding::Plain.number()];
    let lengths_size = integers::write_lengths(&mut bytes, texts.iter().map(|text| text.len()));
    let texts_start = bytes.len();
    bytes.reserve(texts.iter().map(|text| text.len()).sum());
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
    }
    let text_bytes = bytes.get(texts_start..).unwrap_or_default();
    let texts_size = estimate::estimate_compressed_size(text_bytes);
    let estimated_size = ENCODING_BYTES + lengths_size + texts_size;
    EncodedTexts { bytes, estimated_size, expanded_bytes: 0 }
}

pub(super) fn read_plain(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    max_text_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let byte_lengths =
        integers::read_unsigned_integers(reader, text_count, saturate_u32(max_text_bytes))?;
    let total_bytes: u64 = byte_lengths.iter().map(|byte_length| u64::from(*byte_length)).sum();
    let text_bytes = reader.read_bytes(usize::try_from(total_bytes).unwrap_or(usize::MAX))?;
    push_texts(texts, text_bytes.to_vec(), &byte_lengths)
}
