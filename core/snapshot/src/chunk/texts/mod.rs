//! Encodes and decodes lists of strings whose length is known: values, previews, formulas and
//! formats.

mod dictionary;
mod distinct;
mod front_coding;
mod plain;
mod words;

use super::bytes::ChunkReader;
use super::error::UnreadableChunk;
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::TextSpan;

/// The first byte of the list contains the number of its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextEncoding {
    /// Lengths, then all bytes.
    Plain = 0,
    Dictionary = 1,
    /// The length of the prefix that each string shares with the previous string, and the remaining
    /// suffixes.
    FrontCoding = 2,
    /// The distinct words, plus the codes of the words in each string.
    Words = 3,
}

const ENCODING_BYTES: usize = 1;
/// Approximate total length in bytes of an encoding's number and the number of distinct strings.
const DICTIONARY_HEAD_BYTES: usize = 3;

impl TextEncoding {
    fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Option<Self> {
        let encodings = [Self::Plain, Self::Dictionary, Self::FrontCoding, Self::Words];
        encodings.into_iter().find(|encoding| encoding.number() == number)
    }

    /// Returns whether this encoding may be used for the distinct strings or words of the encoding
    /// `outer`. If `outer` is `None`, returns whether it may be used at the top level.
    fn is_allowed_in(self, outer: Option<Self>) -> bool {
        match outer {
            None => true,
            Some(Self::Dictionary) => self != Self::Dictionary,
            Some(Self::Words) => matches!(self, Self::Plain | Self::FrontCoding),
            Some(Self::Plain | Self::FrontCoding) => false,
        }
    }
}

struct EncodedTexts {
    bytes: Vec<u8>,
    /// Estimated compressed size in bytes.
    estimated_size: usize,
    /// Number of bytes that decoding deducts from the expansion budget. Decoded strings are longer
    /// than their encoding by at most this number of bytes.
    expanded_bytes: usize,
}

impl EncodedTexts {
    fn improves_on(&self, plain: &Self, expansion_budget: usize) -> bool {
        self.estimated_size < plain.estimated_size && self.expanded_bytes <= expansion_budget
    }
}

/// `expansion_budget` is the remaining number of bytes by which decoded strings may be longer than
/// their encoding.
pub(super) fn write_texts(output: &mut Vec<u8>, texts: &[&str], expansion_budget: &mut usize) {
    let encoded = encode_smallest(texts, *expansion_budget, None);
    *expansion_budget = expansion_budget.saturating_sub(encoded.expanded_bytes);
    output.extend_from_slice(&encoded.bytes);
}

/// If the strings are the distinct strings or words of another encoding, `outer` is that encoding.
fn encode_smallest(
    texts: &[&str],
    expansion_budget: usize,
    outer: Option<TextEncoding>,
) -> EncodedTexts {
    let plain = plain::encode_plain(texts);
    if texts.len() < 2 {
        return plain;
    }
    let mut dictionary_candidate = None;
    if TextEncoding::Dictionary.is_allowed_in(outer)
        && let Some(dictionary) = dictionary::encode_dictionary(texts, expansion_budget)
    {
        // Use the dictionary if strings repeat often and it is smaller than plain strings. The
        // other encodings have then been tried only on the distinct strings.
        let repeats_often = dictionary.distinct_count <= texts.len() / 4;
        if repeats_often && dictionary.encoded.improves_on(&plain, expansion_budget) {
            return dictionary.encoded;
        }
        dictionary_candidate = Some(dictionary.encoded);
    }
    let mut candidates = Vec::new();
    if TextEncoding::FrontCoding.is_allowed_in(outer) {
        candidates.extend(front_coding::encode_front_coding(texts));
    }
    if TextEncoding::Words.is_allowed_in(outer) {
        candidates.extend(words::encode_words(texts, expansion_budget));
    }
    candidates.extend(dictionary_candidate);
    candidates.retain(|candidate| candidate.improves_on(&plain, expansion_budget));
    let smallest = candidates.into_iter().min_by_key(|candidate| candidate.estimated_size);
    smallest.unwrap_or(plain)
}

/// Equal strings may share bytes. The caller must check `text_count` before the call. After the
/// call, it must check that each returned span is valid UTF-8.
pub(super) fn read_texts(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    max_text_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    read_nested_texts(reader, text_count, max_text_bytes, texts, None)
}

/// Like [`read_texts`]. If the strings are the distinct strings or words of another encoding,
/// `outer` is that encoding.
fn read_nested_texts(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    max_text_bytes: usize,
    texts: &mut String,
    outer: Option<TextEncoding>,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let encoding = TextEncoding::from_number(reader.read_byte()?)
        .filter(|encoding| encoding.is_allowed_in(outer))
        .ok_or(UnreadableChunk::Malformed("a list of strings has an unknown encoding"))?;
    let read_encoded_texts = match encoding {
        TextEncoding::Plain => plain::read_plain,
        TextEncoding::Dictionary => dictionary::read_dictionary,
        TextEncoding::FrontCoding => front_coding::read_front_coding,
        TextEncoding::Words => words::read_words,
    };
    read_encoded_texts(reader, text_count, max_text_bytes, texts)
}

/// Splits contiguous bytes into strings, checks that each string is valid UTF-8, and appends the
/// strings to `texts`.
fn push_texts(
    texts: &mut String,
    bytes: Vec<u8>,
    byte_lengths: &[u32],
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let not_utf8 = UnreadableChunk::Malformed("a string is not UTF-8");
    let mut span_start = saturate_u32(texts.len());
    let joined = String::from_utf8(bytes).map_err(|_| not_utf8)?;
    let is_ascii = joined.is_ascii();
    if texts.is_empty() {
        *texts = joined;
    } else {
        texts.push_str(&joined);
    }
    let mut spans = Vec::with_capacity(byte_lengths.len());
    for byte_length in byte_lengths {
        spans.push(TextSpan { start: span_start, len: *byte_length });
        span_start = span_start.saturating_add(*byte_length);
    }
    // The concatenated bytes may be valid UTF-8 even if a string starts in the middle of a
    // character.
    let starts_at_character = |span: &TextSpan| texts.is_char_boundary(to_usize(span.start));
    if is_ascii || spans.iter().all(starts_at_character) { Ok(spans) } else { Err(not_utf8) }
}

#[cfg(test)]
mod tests;
