//! Texts made of words that come again: each word once, how many words each text has, and their codes.
//!
//! A text is what stands between single spaces, so that every text is words: "" is one empty word,
//! and two spaces have an empty word between them.

use super::distinct::Distinct;
use super::{Form, Written, best, limit, read_inside};
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;
use crate::tile::TextSpan;
use cellar_base::limits::MAX_WORDS;

/// Texts that are looked at to see whether they have words.
const SAMPLE: usize = 64;

pub(super) fn write(texts: &[&str], room: usize) -> Option<Written> {
    let spaces = |text: &&str| text.bytes().filter(|byte| *byte == b' ').count();
    let sampled = texts.len().min(SAMPLE);
    if texts.iter().take(SAMPLE).map(spaces).sum::<usize>() < sampled {
        return None;
    }
    let expanded = texts.iter().map(|text| text.len()).sum::<usize>();
    if expanded > room {
        return None;
    }
    let split = texts.iter().flat_map(|text| text.split(' '));
    let Distinct { texts: words, codes } = Distinct::new(split, texts.len() * 2)?;
    if codes.len() > MAX_WORDS {
        return None;
    }
    let mut bytes = vec![Form::Words.number()];
    write_count(&mut bytes, words.len());
    let nested = best(&words, room, Some(Form::Words));
    bytes.extend_from_slice(&nested.bytes);
    let mut cost = 3 + nested.cost;
    cost += integers::write_counts(&mut bytes, texts.iter().map(|text| spaces(text) + 1));
    cost += integers::write(&mut bytes, &codes);
    Some(Written { bytes, cost, expanded: expanded + words.len() + nested.expanded })
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    most_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a text has no words, or is too long");
    let mut letters = String::new();
    let distinct = reader.count(MAX_WORDS)?;
    // Even an empty word takes room.
    reader.take_expanded(distinct)?;
    let distinct = read_inside(reader, distinct, most_bytes, &mut letters, Some(Form::Words))?;
    if distinct.is_empty() {
        return Err(malformed);
    }
    let counts = integers::read_counts(reader, count, limit(most_bytes) + 1)?;
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let total = usize::try_from(total).ok().filter(|total| *total <= MAX_WORDS);
    let total = total.ok_or(malformed)?;
    reader.take_expanded(total.saturating_sub(count))?;
    let most = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, total, most.saturating_sub(1))?;
    let distinct: Vec<&str> = distinct.iter().map(|span| span.of(&letters)).collect();
    let word = |code: &u32| {
        let word = usize::try_from(*code).ok().and_then(|code| distinct.get(code));
        word.copied().unwrap_or_default()
    };
    let bytes = codes.iter().map(|code| word(code).len()).fold(0, usize::saturating_add);
    reader.take_expanded(bytes)?;
    texts.reserve(bytes.saturating_add(total));
    let mut words = codes.iter().map(word);
    let mut spans = Vec::with_capacity(count);
    for count in counts {
        let start = texts.len();
        for word in words.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
            texts.push_str(word);
            texts.push(' ');
        }
        // Behind the last word is no space.
        texts.pop().ok_or(malformed)?;
        let length = texts.len().checked_sub(start).filter(|length| *length <= most_bytes);
        let length = length.filter(|_| count > 0).ok_or(malformed)?;
        spans.push(TextSpan { start: limit(start), len: limit(length) });
    }
    Ok(spans)
}
