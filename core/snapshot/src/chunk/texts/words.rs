//! Stores strings as repeated words: the distinct words, the number of words in each string, and
//! the word codes. Words are separated by exactly one space, so every string can be split. An empty
//! string is a single empty word, and there is an empty word between two consecutive spaces.

use super::distinct::DistinctTexts;
use super::{
    DICTIONARY_HEAD_BYTES, EncodedTexts, TextEncoding, encode_smallest, push_texts,
    read_nested_texts,
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
    let words = texts.iter().flat_map(|text| words_of(text));
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

/// Like `text.split(' ')`, but faster for words of a few characters.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let mut unread_text = Some(text);
    std::iter::from_fn(move || {
        let text = unread_text?;
        let space = text.bytes().position(|byte| byte == b' ').unwrap_or(text.len());
        unread_text = text.get(space + 1..);
        text.get(..space)
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
    let max_code = saturate_u32(distinct_words.spaced_spans.len() - 1);
    let codes = integers::read_unsigned_integers(reader, total_words, max_code)?;
    let spaced_lengths = codes.iter().map(|code| to_usize(distinct_words.spaced_span(*code).len));
    let total_spaced_bytes = spaced_lengths.fold(0, usize::saturating_add);
    reader.charge_expanded_text(total_spaced_bytes.saturating_sub(total_words))?;
    let mut joined = JoinedWords::with_room_for(total_spaced_bytes);
    let text_lengths =
        joined.push_all(&codes, &word_counts, &distinct_words, saturate_u32(max_text_bytes))?;
    push_texts(texts, joined.into_bytes(), &text_lengths)
}

fn check_total_word_count(word_counts: &[u32]) -> Result<usize, UnreadableChunk> {
    let total_words: u64 = word_counts.iter().map(|word_count| u64::from(*word_count)).sum();
    let total_words = usize::try_from(total_words).map_err(|_| MALFORMED)?;
    if total_words > MAX_WORDS { Err(MALFORMED) } else { Ok(total_words) }
}

/// Words and their space are copied as a whole block if they fit, which is faster than a copy of a
/// length that is unknown at compile time.
const BLOCK_BYTES: usize = 16;

/// Decoded distinct words, at least one.
struct DistinctWords {
    /// The words, a space after each, and a block after all of them.
    padded_bytes: Vec<u8>,
    /// Each span contains the space after the word.
    spaced_spans: Vec<TextSpan>,
}

impl DistinctWords {
    fn read(reader: &mut ChunkReader<'_>, max_word_bytes: usize) -> Result<Self, UnreadableChunk> {
        let word_count = reader.read_count(MAX_WORDS)?;
        // Deduct at least one byte per word from the budget, to limit the number of empty words.
        reader.charge_expanded_text(word_count)?;
        let mut texts = String::new();
        let outer = Some(TextEncoding::Words);
        let spans = read_nested_texts(reader, word_count, max_word_bytes, &mut texts, outer)?;
        if spans.is_empty() {
            return Err(MALFORMED);
        }
        let mut padded_bytes = Vec::with_capacity(texts.len() + spans.len() + BLOCK_BYTES);
        let mut spaced_spans = Vec::with_capacity(spans.len());
        for span in spans {
            let start = saturate_u32(padded_bytes.len());
            padded_bytes.extend_from_slice(span.of(&texts).as_bytes());
            padded_bytes.push(b' ');
            spaced_spans.push(TextSpan { start, len: saturate_u32(padded_bytes.len()) - start });
        }
        padded_bytes.resize(padded_bytes.len() + BLOCK_BYTES, 0);
        Ok(Self { padded_bytes, spaced_spans })
    }

    fn spaced_span(&self, code: u32) -> TextSpan {
        self.spaced_spans.get(to_usize(code)).copied().unwrap_or_default()
    }
}

/// Words that are joined with single spaces to strings.
struct JoinedWords {
    /// The strings, and room for a block after them.
    padded_bytes: Vec<u8>,
    used_bytes: usize,
}

impl JoinedWords {
    fn with_room_for(byte_length: usize) -> Self {
        Self { padded_bytes: vec![0; byte_length.saturating_add(BLOCK_BYTES)], used_bytes: 0 }
    }

    fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.padded_bytes;
        bytes.truncate(self.used_bytes);
        bytes
    }

    /// Returns the lengths of the strings. `word_counts` contains the number of words in each string.
    fn push_all(
        &mut self,
        codes: &[u32],
        word_counts: &[u32],
        distinct_words: &DistinctWords,
        max_text_bytes: u32,
    ) -> Result<Vec<u32>, UnreadableChunk> {
        let mut codes = codes.iter();
        let mut text_lengths = Vec::with_capacity(word_counts.len());
        for &word_count in word_counts {
            let text_start = self.used_bytes;
            for code in codes.by_ref().take(to_usize(word_count)) {
                self.push_with_space(distinct_words, *code).ok_or(MALFORMED)?;
            }
            // The next string overwrites the last space.
            self.used_bytes = self.used_bytes.checked_sub(1).ok_or(MALFORMED)?;
            let text_bytes = self.used_bytes.checked_sub(text_start).ok_or(MALFORMED)?;
            let text_length = u32::try_from(text_bytes).map_err(|_| MALFORMED)?;
            if text_length > max_text_bytes {
                return Err(MALFORMED);
            }
            text_lengths.push(text_length);
        }
        Ok(text_lengths)
    }

    /// Returns `None` if there is no room.
    fn push_with_space(&mut self, words: &DistinctWords, code: u32) -> Option<()> {
        let span = words.spaced_span(code);
        let spaced_bytes = to_usize(span.len);
        let source = words.padded_bytes.get(to_usize(span.start)..)?;
        let target = self.padded_bytes.get_mut(self.used_bytes..)?;
        if spaced_bytes <= BLOCK_BYTES {
            *target.first_chunk_mut::<BLOCK_BYTES>()? = *source.first_chunk()?;
        } else {
            target.get_mut(..spaced_bytes)?.copy_from_slice(source.get(..spaced_bytes)?);
        }
        self.used_bytes += spaced_bytes;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_between_spaces() {
        for text in ["", " ", "a", "a b", " é  ü ", "no-space", "  ", "a b "] {
            assert_eq!(words_of(text).collect::<Vec<_>>(), text.split(' ').collect::<Vec<_>>());
        }
    }
}
