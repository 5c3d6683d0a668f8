//! Texts that begin as the one before: how many bytes are shared, how many follow, and these.

use super::{Form, Written, limit, push_texts};
use crate::chunk::bytes::Reader;
use crate::chunk::error::UnreadableChunk;
use crate::chunk::{estimate, integers};
use crate::tile::TextSpan;

/// Texts share so many bytes on average, or it is not worth trying.
const LEAST_SHARED_BYTES: usize = 2;

pub(super) fn write(texts: &[&str]) -> Option<Written> {
    let before = std::iter::once("").chain(texts.iter().copied());
    let shared: Vec<usize> = before.zip(texts).map(|(before, text)| shared(before, text)).collect();
    if shared.iter().sum::<usize>() < texts.len() * LEAST_SHARED_BYTES {
        return None;
    }
    let mut bytes = vec![Form::FrontCoding.number()];
    let rests = texts.iter().zip(&shared).map(|(text, shared)| {
        let (_, rest) = text.as_bytes().split_at_checked(*shared).unwrap_or_default();
        rest
    });
    let mut cost = 1 + integers::write_counts(&mut bytes, shared.iter().copied());
    cost += integers::write_counts(&mut bytes, rests.clone().map(<[u8]>::len));
    let front = bytes.len();
    rests.for_each(|rest| bytes.extend_from_slice(rest));
    cost += estimate::packed_bytes(bytes.get(front..).unwrap_or_default());
    let expanded = texts.iter().map(|text| text.len()).sum();
    Some(Written { bytes, cost, expanded })
}

/// Bytes with which both begin.
fn shared(one: &str, two: &str) -> usize {
    one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count()
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    most_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a text shares more than there is, or is too long");
    let most = limit(most_bytes);
    let shared = integers::read_counts(reader, count, most)?;
    let rests = integers::read_counts(reader, count, most)?;
    let mut bytes = Vec::new();
    let mut lengths = Vec::with_capacity(count);
    let mut before = 0..0;
    for (shared, rest) in shared.into_iter().zip(rests) {
        let length = shared.checked_add(rest).filter(|length| *length <= most).ok_or(malformed)?;
        let rest = reader.bytes(usize::try_from(rest).unwrap_or(usize::MAX))?;
        let shared = usize::try_from(shared).unwrap_or(usize::MAX);
        reader.take_expanded(shared.saturating_add(rest.len()))?;
        if shared > before.len() {
            return Err(malformed);
        }
        let start = bytes.len();
        bytes.extend_from_within(before.start..before.start + shared);
        bytes.extend_from_slice(rest);
        before = start..bytes.len();
        lengths.push(length);
    }
    push_texts(texts, &bytes, &lengths)
}
