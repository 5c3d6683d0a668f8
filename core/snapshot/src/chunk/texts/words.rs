//! Texts as sequences of repeated words: the distinct words, the number of words in each text, and
//! the word codes.
//!
//! Words are separated by exactly one space, so any text can be split: "" is a single empty word,
//! and two consecutive spaces enclose an empty word.

use super::distinct::Distinct;
use super::{Form, Written, encode_best, read_nested, saturate_u32};
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;
use crate::tile::TextSpan;
use cellar_base::limits::MAX_WORDS;

const MALFORMED: UnreadableChunk = UnreadableChunk::Malformed("a text has no words or is too long");

/// Number of texts sampled for spaces.
const SAMPLE: usize = 64;

pub(super) fn write(texts: &[&str], expansion_budget: usize) -> Option<Written> {
    let count_spaces = |text: &&str| text.bytes().filter(|byte| *byte == b' ').count();
    let sampled = texts.len().min(SAMPLE);
    if texts.iter().take(SAMPLE).map(count_spaces).sum::<usize>() < sampled {
        return None;
    }
    let expanded = texts.iter().map(|text| text.len()).sum::<usize>();
    if expanded > expansion_budget {
        return None;
    }
    let split = texts.iter().flat_map(|text| text.split(' '));
    let Distinct { texts: words, codes } = Distinct::new(split, texts.len() * 2)?;
    if codes.len() > MAX_WORDS {
        return None;
    }
    let mut bytes = vec![Form::Words.number()];
    write_count(&mut bytes, words.len());
    let nested = encode_best(&words, expansion_budget, Some(Form::Words));
    bytes.extend_from_slice(&nested.bytes);
    let mut cost = 3 + nested.cost;
    cost += integers::write_counts(&mut bytes, texts.iter().map(|text| count_spaces(text) + 1));
    cost += integers::write(&mut bytes, &codes);
    Some(Written { bytes, cost, expanded: expanded + words.len() + nested.expanded })
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    max_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let mut word_texts = String::new();
    let distinct = read_distinct_words(reader, max_bytes, &mut word_texts)?;
    let word_counts = integers::read_counts(reader, count, saturate_u32(max_bytes) + 1)?;
    let total: u64 = word_counts.iter().map(|count| u64::from(*count)).sum();
    let total = usize::try_from(total).ok().filter(|total| *total <= MAX_WORDS).ok_or(MALFORMED)?;
    let spaces = total.saturating_sub(count);
    reader.charge_expanded_text(spaces)?;
    let code_end = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, total, code_end.saturating_sub(1))?;
    let word_of = |code: &u32| {
        let span = usize::try_from(*code).ok().and_then(|code| distinct.get(code));
        span.map_or("", |span| span.of(&word_texts))
    };
    let word_bytes = codes.iter().map(|code| word_of(code).len()).fold(0, usize::saturating_add);
    reader.charge_expanded_text(word_bytes)?;
    texts.reserve(word_bytes.saturating_add(total));
    join_words(codes.iter().map(word_of), &word_counts, max_bytes, texts)
}

/// Decodes the distinct words and appends them to `word_texts`. Returns at least one word.
fn read_distinct_words(
    reader: &mut Reader<'_>,
    max_bytes: usize,
    word_texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let count = reader.count(MAX_WORDS)?;
    // Each word costs at least one byte of budget, which limits the number of empty words.
    reader.charge_expanded_text(count)?;
    let words = read_nested(reader, count, max_bytes, word_texts, Some(Form::Words))?;
    if words.is_empty() { Err(MALFORMED) } else { Ok(words) }
}

/// Joins words with single spaces and appends the resulting texts to `texts`. `word_counts`
/// contains the number of words in each text.
fn join_words<'a>(
    mut words: impl Iterator<Item = &'a str>,
    word_counts: &[u32],
    max_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let mut spans = Vec::with_capacity(word_counts.len());
    for &word_count in word_counts {
        if word_count == 0 {
            return Err(MALFORMED);
        }
        let start = texts.len();
        for word in words.by_ref().take(usize::try_from(word_count).unwrap_or(usize::MAX)) {
            texts.push_str(word);
            texts.push(' ');
        }
        // Removes the trailing space.
        texts.pop().ok_or(MALFORMED)?;
        let length = texts.len().checked_sub(start).filter(|length| *length <= max_bytes);
        let length = length.ok_or(MALFORMED)?;
        spans.push(TextSpan { start: saturate_u32(start), len: saturate_u32(length) });
    }
    Ok(spans)
}
