//! Front coding: each string is stored as the length of the prefix that it shares with the previous
//! string, plus the remaining suffix.

use super::{ENCODING_BYTES, EncodedTexts, TextEncoding, push_texts};
use crate::chunk::bytes::ChunkReader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::{estimate, integers};
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::TextSpan;

/// Minimum average length in bytes of the shared prefixes. Front coding is not tried below this
/// length.
const MIN_SHARED_BYTES: usize = 2;

/// Encodes strings with front coding if their shared prefixes are long enough.
pub(super) fn encode_front_coding(texts: &[&str]) -> Option<EncodedTexts> {
    let prefix_lengths = shared_prefix_lengths(texts);
    let total_prefix_bytes: usize = prefix_lengths.iter().sum();
    if total_prefix_bytes < texts.len() * MIN_SHARED_BYTES {
        return None;
    }
    let suffixes: Vec<&[u8]> = texts
        .iter()
        .zip(&prefix_lengths)
        .map(|(text, prefix_length)| text.as_bytes().get(*prefix_length..).unwrap_or_default())
        .collect();
    let mut bytes = vec![TextEncoding::FrontCoding.number()];
    let prefixes_size = integers::write_lengths(&mut bytes, prefix_lengths.into_iter());
    let lengths_size =
        integers::write_lengths(&mut bytes, suffixes.iter().map(|suffix| suffix.len()));
    let suffixes_start = bytes.len();
    for suffix in suffixes {
        bytes.extend_from_slice(suffix);
    }
    let suffix_bytes = bytes.get(suffixes_start..).unwrap_or_default();
    let suffixes_size = estimate::estimate_compressed_size(suffix_bytes);
    Some(EncodedTexts {
        bytes,
        estimated_size: ENCODING_BYTES + prefixes_size + lengths_size + suffixes_size,
        expanded_bytes: texts.iter().map(|text| text.len()).sum(),
    })
}

/// Returns the length in bytes of the prefix that each string shares with the previous string.
fn shared_prefix_lengths(texts: &[&str]) -> Vec<usize> {
    let previous_texts = std::iter::once("").chain(texts.iter().copied());
    previous_texts
        .zip(texts)
        .map(|(previous_text, text)| {
            let byte_pairs = previous_text.bytes().zip(text.bytes());
            byte_pairs.take_while(|(previous_byte, byte)| previous_byte == byte).count()
        })
        .collect()
}

pub(super) fn read_front_coding(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    max_text_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed(
        "a shared prefix is longer than the previous string, or a string is too long",
    );
    let max_length = saturate_u32(max_text_bytes);
    let prefix_lengths = integers::read_unsigned_integers(reader, text_count, max_length)?;
    let suffix_lengths = integers::read_unsigned_integers(reader, text_count, max_length)?;
    let mut decoded_bytes = Vec::new();
    let mut text_lengths = Vec::with_capacity(text_count);
    let mut previous_text = 0..0;
    for (prefix_length, suffix_length) in prefix_lengths.into_iter().zip(suffix_lengths) {
        let text_length = prefix_length.checked_add(suffix_length).ok_or(malformed)?;
        if text_length > max_length {
            return Err(malformed);
        }
        let suffix = reader.read_bytes(to_usize(suffix_length))?;
        reader.charge_expanded_text(to_usize(text_length))?;
        let prefix_bytes = to_usize(prefix_length);
        if prefix_bytes > previous_text.len() {
            return Err(malformed);
        }
        let text_start = decoded_bytes.len();
        decoded_bytes.extend_from_within(previous_text.start..previous_text.start + prefix_bytes);
        decoded_bytes.extend_from_slice(suffix);
        previous_text = text_start..decoded_bytes.len();
        text_lengths.push(text_length);
    }
    push_texts(texts, decoded_bytes, &text_lengths)
}
