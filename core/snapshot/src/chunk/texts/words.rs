//! Stores strings as repeated words: the distinct words, the number of words in each string, and
//! the word codes. Words are separated by exactly one space, so every string can be split. An empty
//! string is a single empty word, and there is an empty word between two consecutive spaces.

use super::distinct::DistinctTexts;
use super::{
    DICTIONARY_HEAD_BYTES, EncodedTexts, TextEncoding, encode_smallest, read_nested_texts,
};
use crate::chunk::bytes::{ChunkReader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;
use crate::saturate::{saturate_u32, to_usize};
use crate::tile::TextSpan;
use cellar_base::limits::MAX_WORDS;

const MALFORMED: UnreadableChunk =
    UnreadableChunk::Malformed("a string has no words or is too long");

/// Number of strings that are checked for spaces.
const SAMPLE_LENGTH: usize = 64;
/// Assumed number of words per string, from which the total number of words is estimated.
const EXPECTED_WORDS: usize = 2;

/// Encodes strings as words if they contain enough spaces and their words repeat.
pub(super) fn encode_words(texts: &[&str], expansion_budget: usize) -> Option<EncodedTexts> {
    if !has_enough_spaces(texts) {
        return None;
    }
    let text_bytes: usize = texts.iter().map(|text| text.len()).sum();
    if text_bytes > expansion_budget {
        return None;
    }
    let words = texts.iter().flat_map(|text| text.split(' '));
    let distinct_words = DistinctTexts::find_if_repetitive(words, texts.len() * EXPECTED_WORDS)?;
    if distinct_words.codes.len() > MAX_WORDS {
        return None;
    }
    let mut bytes = vec![TextEncoding::Words.number()];
    write_count(&mut bytes, distinct_words.texts.len());
    let encoded_words =
        encode_smallest(&distinct_words.texts, expansion_budget, Some(TextEncoding::Words));
    bytes.extend_from_slice(&encoded_words.bytes);
    let word_counts = texts.iter().map(|text| count_spaces(text) + 1);
    let word_counts_size = integers::write_lengths(&mut bytes, word_counts);
    let codes_size = integers::write_integers(&mut bytes, &distinct_words.codes);
    let words_size = DICTIONARY_HEAD_BYTES + encoded_words.estimated_size;
    let expanded_word_bytes = distinct_words.texts.len() + encoded_words.expanded_bytes;
    Some(EncodedTexts {
        bytes,
        estimated_size: words_size + word_counts_size + codes_size,
        expanded_bytes: text_bytes + expanded_word_bytes,
    })
}

fn has_enough_spaces(texts: &[&str]) -> bool {
    let sample = texts.get(..SAMPLE_LENGTH).unwrap_or(texts);
    let sampled_spaces: usize = sample.iter().map(|text| count_spaces(text)).sum();
    sampled_spaces >= sample.len()
}

fn count_spaces(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b' ').count()
}

pub(super) fn read_words(
    reader: &mut ChunkReader<'_>,
    text_count: usize,
    max_text_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let distinct_words = DistinctWords::read(reader, max_text_bytes)?;
    let max_word_count = saturate_u32(max_text_bytes) + 1;
    let word_counts = integers::read_unsigned_integers(reader, text_count, max_word_count)?;
    let total_words = check_total_word_count(&word_counts)?;
    let total_spaces = total_words.saturating_sub(text_count);
    reader.charge_expanded_text(total_spaces)?;
    let max_code = saturate_u32(distinct_words.spans.len() - 1);
    let codes = integers::read_unsigned_integers(reader, total_words, max_code)?;
    let words = || codes.iter().map(|code| distinct_words.word(*code));
    let total_word_bytes = words().map(str::len).fold(0, usize::saturating_add);
    reader.charge_expanded_text(total_word_bytes)?;
    texts.reserve(total_word_bytes + total_words);
    join_words(words(), &word_counts, max_text_bytes, texts)
}

fn check_total_word_count(word_counts: &[u32]) -> Result<usize, UnreadableChunk> {
    let total_words: u64 = word_counts.iter().map(|word_count| u64::from(*word_count)).sum();
    let total_words = usize::try_from(total_words).map_err(|_| MALFORMED)?;
    if total_words > MAX_WORDS { Err(MALFORMED) } else { Ok(total_words) }
}

/// Decoded distinct words, at least one.
struct DistinctWords {
    texts: String,
    spans: Vec<TextSpan>,
}

impl DistinctWords {
    fn read(reader: &mut ChunkReader<'_>, max_word_bytes: usize) -> Result<Self, UnreadableChunk> {
        let word_count = reader.read_count(MAX_WORDS)?;
        // Deduct at least one byte per word from the budget, to limit the number of empty words.
        reader.charge_expanded_text(word_count)?;
        let mut texts = String::new();
        let outer = Some(TextEncoding::Words);
        let spans = read_nested_texts(reader, word_count, max_word_bytes, &mut texts, outer)?;
        if spans.is_empty() { Err(MALFORMED) } else { Ok(Self { texts, spans }) }
    }

    fn word(&self, code: u32) -> &str {
        self.spans.get(to_usize(code)).map_or("", |span| span.of(&self.texts))
    }
}

/// Joins words with single spaces and appends the resulting strings to `texts`. `word_counts`
/// contains the number of words in each string.
fn join_words<'a>(
    mut words: impl Iterator<Item = &'a str>,
    word_counts: &[u32],
    max_text_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let mut spans = Vec::with_capacity(word_counts.len());
    for &word_count in word_counts {
        let text_start = texts.len();
        for word_index in 0..word_count {
            if word_index > 0 {
                texts.push(' ');
            }
            texts.push_str(words.next().ok_or(MALFORMED)?);
        }
        let text_bytes = texts.len() - text_start;
        if word_count == 0 || text_bytes > max_text_bytes {
            return Err(MALFORMED);
        }
        spans.push(TextSpan { start: saturate_u32(text_start), len: saturate_u32(text_bytes) });
    }
    Ok(spans)
}
