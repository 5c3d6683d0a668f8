//! Texts that come again and again: each once, and its code for every row.

use super::distinct::Distinct;
use super::{Form, Written, best, read_inside};
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;
use crate::tile::TextSpan;

/// Texts written with a dictionary.
pub(super) struct WithDictionary {
    pub(super) written: Written,
    /// How many texts are in it.
    pub(super) distinct: usize,
}

pub(super) fn write(texts: &[&str], room: usize) -> Option<WithDictionary> {
    let Distinct { texts: distinct, codes } = Distinct::new(texts.iter().copied(), texts.len())?;
    let mut bytes = vec![Form::Dictionary.number()];
    write_count(&mut bytes, distinct.len());
    let nested = best(&distinct, room, Some(Form::Dictionary));
    bytes.extend_from_slice(&nested.bytes);
    let cost = 3 + nested.cost + integers::write(&mut bytes, &codes);
    let written = Written { bytes, cost, expanded: nested.expanded };
    Some(WithDictionary { written, distinct: distinct.len() })
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
    if distinct.is_empty() {
        return Err(malformed);
    }
    let most = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, count, most.saturating_sub(1))?;
    let span = |code: u32| distinct.get(usize::try_from(code).ok()?).copied();
    Ok(codes.into_iter().map(|code| span(code).unwrap_or_default()).collect())
}
