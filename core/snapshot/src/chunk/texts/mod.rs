//! Encodes and decodes text lists of known length: values, previews, formulas and formats.

mod dictionary;
mod distinct;
mod front_coding;
mod plain;
mod words;

use dictionary::WithDictionary;

use super::bytes::Reader;
use super::error::UnreadableChunk;
use crate::tile::TextSpan;

/// Encoding of texts; its number is stored in the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Lengths, then all bytes.
    Plain,
    /// The distinct texts, plus one code per text.
    Dictionary,
    /// For each text, the length of the prefix shared with the previous text, and the remaining
    /// suffix.
    FrontCoding,
    /// The distinct words, plus the word codes of each text.
    Words,
}

impl Form {
    fn number(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Dictionary => 1,
            Self::FrontCoding => 2,
            Self::Words => 3,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        let all = [Self::Plain, Self::Dictionary, Self::FrontCoding, Self::Words];
        all.into_iter().find(|form| form.number() == number)
    }

    /// Returns whether the distinct texts of the encoding `outer` may in turn use this encoding.
    fn may_be_nested_in(self, outer: Self) -> bool {
        match outer {
            Self::Dictionary => self != Self::Dictionary,
            Self::Words => matches!(self, Self::Plain | Self::FrontCoding),
            Self::Plain | Self::FrontCoding => false,
        }
    }
}

/// Encoded texts.
#[derive(Clone)]
struct Written {
    bytes: Vec<u8>,
    /// Estimated compressed size in bytes.
    cost: usize,
    /// Number of text bytes that decoding produces beyond its input length.
    expanded: usize,
}

/// Encodes texts with the smallest estimated size. `expansion_budget` is the number of text bytes
/// that decoding may still produce beyond its input length.
pub(super) fn write(out: &mut Vec<u8>, texts: &[&str], expansion_budget: &mut usize) {
    let written = encode_best(texts, *expansion_budget, None);
    *expansion_budget -= written.expanded.min(*expansion_budget);
    out.extend_from_slice(&written.bytes);
}

fn encode_best(texts: &[&str], expansion_budget: usize, outer: Option<Form>) -> Written {
    let plain = plain::write(texts);
    if texts.len() < 2 {
        return plain;
    }
    let is_allowed = |form: Form| outer.is_none_or(|outer| form.may_be_nested_in(outer));
    let dictionary = if is_allowed(Form::Dictionary) {
        dictionary::write(texts, expansion_budget)
    } else {
        None
    };
    // If texts repeat often, try the other encodings only on the distinct texts.
    let is_good_enough = |encoded: &&WithDictionary| {
        encoded.distinct <= texts.len() / 4
            && encoded.written.cost < plain.cost
            && encoded.written.expanded <= expansion_budget
    };
    if let Some(repeated) = dictionary.as_ref().filter(is_good_enough) {
        return repeated.written.clone();
    }
    let others = [
        is_allowed(Form::FrontCoding).then(|| front_coding::write(texts)).flatten(),
        is_allowed(Form::Words).then(|| words::write(texts, expansion_budget)).flatten(),
        dictionary.map(|dictionary| dictionary.written),
    ];
    let others = others.into_iter().flatten().filter(|other| other.expanded <= expansion_budget);
    let smallest = others.min_by_key(|other| other.cost);
    smallest.filter(|other| other.cost < plain.cost).unwrap_or(plain)
}

/// Decodes `count` texts of at most `max_bytes` each and appends them to `texts`. Equal texts may
/// share bytes. The caller must check `count` before the call, and afterwards that each span is
/// valid UTF-8.
pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    max_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    read_nested(reader, count, max_bytes, texts, None)
}

fn read_nested(
    reader: &mut Reader<'_>,
    count: usize,
    max_bytes: usize,
    texts: &mut String,
    outer: Option<Form>,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let form = Form::from_number(reader.byte()?);
    let form = form.filter(|form| outer.is_none_or(|outer| form.may_be_nested_in(outer)));
    match form.ok_or(UnreadableChunk::Malformed("texts are encoded in an unknown form"))? {
        Form::Plain => plain::read(reader, count, max_bytes, texts),
        Form::Dictionary => dictionary::read(reader, count, max_bytes, texts),
        Form::FrontCoding => front_coding::read(reader, count, max_bytes, texts),
        Form::Words => words::read(reader, count, max_bytes, texts),
    }
}

/// Splits contiguous bytes into texts, checks that each is valid UTF-8, and appends them to
/// `texts`.
fn push_texts(
    texts: &mut String,
    bytes: &[u8],
    lengths: &[u32],
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a text is not UTF-8");
    let first = texts.len();
    texts.push_str(std::str::from_utf8(bytes).map_err(|_| malformed)?);
    let mut start = saturate_u32(first);
    let next_span = |len: &u32| {
        let span = TextSpan { start, len: *len };
        start = start.saturating_add(*len);
        span
    };
    let spans: Vec<TextSpan> = lengths.iter().map(next_span).collect();
    // The concatenated bytes may be valid UTF-8 even if a text starts in the middle of a character.
    let starts_at_character = |span: &TextSpan| {
        usize::try_from(span.start).is_ok_and(|start| texts.is_char_boundary(start))
    };
    if bytes.is_ascii() || spans.iter().all(starts_at_character) {
        Ok(spans)
    } else {
        Err(malformed)
    }
}

/// Converts a length to 32 bits.
fn saturate_u32(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
