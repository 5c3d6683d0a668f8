//! Texts that come again and again: each once, and its code for every row.

use std::collections::HashMap;

use super::{Form, Written, best, read_inside};
use crate::snapshot::chunk::bytes::{Reader, write_count};
use crate::snapshot::chunk::error::UnreadableChunk;
use crate::snapshot::chunk::integers;
use crate::snapshot::tile::TextSpan;

/// Texts that are looked at to see whether any come again.
const SAMPLE: usize = 1_024;

/// Distinct texts in the order in which they come first, and a code for each. `None` if more than
/// three of four in the beginning, or in all, are distinct.
pub(super) fn codes<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(Vec<&'a str>, Vec<i64>)> {
    let mut known: HashMap<&str, i64> = HashMap::new();
    let (mut distinct, mut codes) = (Vec::new(), Vec::new());
    let repeats = |distinct: &[&str], count: usize| distinct.len() <= count / 4 * 3 + 1;
    for text in texts {
        let next = i64::try_from(distinct.len()).unwrap_or(i64::MAX);
        let code = *known.entry(text).or_insert(next);
        if code == next {
            distinct.push(text);
        }
        codes.push(code);
        if codes.len() % SAMPLE == 0 && !repeats(&distinct, codes.len()) {
            return None;
        }
    }
    repeats(&distinct, codes.len()).then_some((distinct, codes))
}

pub(super) fn write(texts: &[&str], room: usize) -> Option<Written> {
    let (distinct, codes) = codes(texts.iter().copied())?;
    let mut bytes = vec![Form::Dictionary.number()];
    write_count(&mut bytes, distinct.len());
    let nested = best(&distinct, room, Some(Form::Dictionary));
    bytes.extend_from_slice(&nested.bytes);
    let cost = 3 + nested.cost + integers::write(&mut bytes, &codes);
    Some(Written { bytes, cost, expanded: nested.expanded })
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    most_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a code has no text");
    let distinct = reader.count(count)?;
    let distinct = read_inside(reader, distinct, most_bytes, texts, Some(Form::Dictionary))?;
    let most = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, count, most)?;
    let span = |code: u32| distinct.get(usize::try_from(code).ok()?).copied();
    codes.into_iter().map(|code| span(code).ok_or(malformed)).collect()
}
