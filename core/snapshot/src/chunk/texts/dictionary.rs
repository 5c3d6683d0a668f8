//! Dictionary encoding of repeated strings: the distinct strings, plus one code per string.

use super::distinct::DistinctTexts;
use super::{
    DICTIONARY_HEAD_BYTES, EncodedTexts, TextEncoding, encode_smallest, read_nested_texts,
};
use crate::chunk::bytes::{ChunkReader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::TextSpan;

pub(super) struct DictionaryEncodedTexts {
    pub(super) encoded: EncodedTexts,
    pub(super) distinct_count: usize,
}

/// Encodes strings with a dictionary if they repeat often enough.
pub(super) fn encode_dictionary(
    texts: &[&str],
    expansion_budget: usize,
) -> Option<DictionaryEncodedTexts> {
    let distinct = DistinctTexts::find_if_repetitive(texts.iter().copied(), texts.len())?;
    let distinct_count = distinct.texts.len();
    let mut bytes = vec![TextEncoding::Dictionary.number()];
    write_count(&mut bytes, distinct_count);
    let encoded_distinct =
        encode_smallest(&distinct.texts, expansion_budget, Some(TextEncoding::Dictionary));
    bytes.extend_from_slice(&encoded_distinct.bytes);
    let codes_size = integers::write_integers(&mut bytes, &distinct.codes);
    let encoded = EncodedTexts {
        bytes,
        estimated_size: DICTIONARY_HEAD_BYTES + encoded_distinct.estimated_size + codes_size,
        expanded_bytes: encoded_distinct.expanded_bytes,
    };
    Some(DictionaryEncodedTexts { encoded, distinct_count })
}

pub(super) fn read_dictionary(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    max_text_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let distinct_count = reader.read_count(text_count)?;
    let distinct_spans = read_nested_texts(
        reader,
        distinct_count,
        max_text_bytes,
        texts,
        Some(TextEncoding::Dictionary),
    )?;
    let max_code = distinct_spans
        .len()
        .checked_sub(1)
        .ok_or(UnreadableChunk::Malformed("the dictionary of strings is empty"))?;
    let span_of = |code: u32| distinct_spans.get(to_usize(code)).copied().unwrap_or_default();
    integers::map_unsigned_integers(reader, text_count, saturate_u32(max_code), span_of)
}
