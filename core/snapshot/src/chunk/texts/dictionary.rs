//! Dictionary encoding of repeated texts: the distinct texts, plus one code per text.

use super::distinct::Distinct;
use super::{Form, Written, encode_best, read_nested};
use crate::chunk::bytes::{Reader, write_count};
use crate::chunk::error::UnreadableChunk;
use crate::chunk::integers;
use crate::tile::TextSpan;

/// Dictionary-encoded texts.
pub(super) struct WithDictionary {
    pub(super) written: Written,
    /// Number of distinct texts.
    pub(super) distinct: usize,
}

pub(super) fn write(texts: &[&str], expansion_budget: usize) -> Option<WithDictionary> {
    let Distinct { texts: distinct, codes } = Distinct::new(texts.iter().copied(), texts.len())?;
    let mut bytes = vec![Form::Dictionary.number()];
    write_count(&mut bytes, distinct.len());
    let nested = encode_best(&distinct, expansion_budget, Some(Form::Dictionary));
    bytes.extend_from_slice(&nested.bytes);
    let cost = 3 + nested.cost + integers::write(&mut bytes, &codes);
    let written = Written { bytes, cost, expanded: nested.expanded };
    Some(WithDictionary { written, distinct: distinct.len() })
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    max_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("the dictionary of texts is empty");
    let distinct_count = reader.count(count)?;
    let distinct = read_nested(reader, distinct_count, max_bytes, texts, Some(Form::Dictionary))?;
    if distinct.is_empty() {
        return Err(malformed);
    }
    let code_end = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    let codes = integers::read_counts(reader, count, code_end.saturating_sub(1))?;
    let span_of = |code: u32| distinct.get(usize::try_from(code).ok()?).copied();
    Ok(codes.into_iter().map(|code| span_of(code).unwrap_or_default()).collect())
}
