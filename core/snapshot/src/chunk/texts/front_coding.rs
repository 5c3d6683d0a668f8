//! Front coding: each text is stored as the length of the prefix it shares with the previous text,
//! and the remaining suffix.

use super::{Form, Written, push_texts, saturate_u32};
use crate::chunk::bytes::Reader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::{estimate, integers};
use crate::tile::TextSpan;

/// Minimum average length of shared prefixes for which front coding is tried, in bytes.
const MIN_SHARED_BYTES: usize = 2;

pub(super) fn write(texts: &[&str]) -> Option<Written> {
    let previous_texts = std::iter::once("").chain(texts.iter().copied());
    let shared: Vec<usize> = previous_texts
        .zip(texts)
        .map(|(previous, text)| shared_prefix_bytes(previous, text))
        .collect();
    if shared.iter().sum::<usize>() < texts.len() * MIN_SHARED_BYTES {
        return None;
    }
    let mut bytes = vec![Form::FrontCoding.number()];
    let rests = texts.iter().zip(&shared).map(|(text, shared)| {
        let (_, rest) = text.as_bytes().split_at_checked(*shared).unwrap_or_default();
        rest
    });
    let mut cost = 1 + integers::write_counts(&mut bytes, shared.iter().copied());
    cost += integers::write_counts(&mut bytes, rests.clone().map(<[u8]>::len));
    let rests_start = bytes.len();
    rests.for_each(|rest| bytes.extend_from_slice(rest));
    cost += estimate::packed_bytes(bytes.get(rests_start..).unwrap_or_default());
    let expanded = texts.iter().map(|text| text.len()).sum();
    Some(Written { bytes, cost, expanded })
}

/// Returns the length of the common prefix, in bytes.
fn shared_prefix_bytes(one: &str, two: &str) -> usize {
    one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count()
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    max_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed(
        "a text shares more bytes than its predecessor has, or is too long",
    );
    let max_length = saturate_u32(max_bytes);
    let shared = integers::read_counts(reader, count, max_length)?;
    let rests = integers::read_counts(reader, count, max_length)?;
    let mut bytes = Vec::new();
    let mut lengths = Vec::with_capacity(count);
    let mut previous = 0..0;
    for (shared, rest) in shared.into_iter().zip(rests) {
        let length =
            shared.checked_add(rest).filter(|length| *length <= max_length).ok_or(malformed)?;
        let rest = reader.bytes(usize::try_from(rest).unwrap_or(usize::MAX))?;
        let shared = usize::try_from(shared).unwrap_or(usize::MAX);
        reader.charge_expanded_text(shared.saturating_add(rest.len()))?;
        if shared > previous.len() {
            return Err(malformed);
        }
        let start = bytes.len();
        bytes.extend_from_within(previous.start..previous.start + shared);
        bytes.extend_from_slice(rest);
        previous = start..bytes.len();
        lengths.push(length);
    }
    push_texts(texts, &bytes, &lengths)
}
