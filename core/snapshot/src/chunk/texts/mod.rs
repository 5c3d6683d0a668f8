//! A row of texts whose count is known: values, previews, formulas, formats.

mod dictionary;
mod distinct;
mod front_coding;
mod plain;
mod words;

use dictionary::WithDictionary;

use super::bytes::Reader;
use super::error::UnreadableChunk;
use crate::tile::TextSpan;

/// How texts are written; their first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Lengths, then all bytes.
    Plain,
    /// Distinct texts, and codes.
    Dictionary,
    /// How much each shares with the one before, and the rest of it.
    FrontCoding,
    /// Distinct words, and the codes of each text's words.
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

    /// Whether it may be written inside `outer`, as its distinct texts.
    fn may_stand_in(self, outer: Self) -> bool {
        match outer {
            Self::Dictionary => self != Self::Dictionary,
            Self::Words => matches!(self, Self::Plain | Self::FrontCoding),
            Self::Plain | Self::FrontCoding => false,
        }
    }
}

/// Texts as written.
#[derive(Clone)]
struct Written {
    bytes: Vec<u8>,
    /// Bytes that they will take compressed, about.
    cost: usize,
    /// Bytes of text that come out where fewer went in.
    expanded: usize,
}

/// Writes texts in the form that will be smallest. `room` is how many bytes of text may still come
/// out where fewer go in.
pub(super) fn write(out: &mut Vec<u8>, texts: &[&str], room: &mut usize) {
    let written = best(texts, *room, None);
    *room -= written.expanded.min(*room);
    out.extend_from_slice(&written.bytes);
}

fn best(texts: &[&str], room: usize, outer: Option<Form>) -> Written {
    let plain = plain::write(texts);
    if texts.len() < 2 {
        return plain;
    }
    let may = |form: Form| outer.is_none_or(|outer| form.may_stand_in(outer));
    let dictionary = if may(Form::Dictionary) { dictionary::write(texts, room) } else { None };
    // What repeats much is not looked at in other ways: its distinct texts are.
    let repeats = |it: &&WithDictionary| {
        it.distinct <= texts.len() / 4
            && it.written.cost < plain.cost
            && it.written.expanded <= room
    };
    if let Some(repeated) = dictionary.as_ref().filter(repeats) {
        return repeated.written.clone();
    }
    let others = [
        may(Form::FrontCoding).then(|| front_coding::write(texts)).flatten(),
        may(Form::Words).then(|| words::write(texts, room)).flatten(),
        dictionary.map(|dictionary| dictionary.written),
    ];
    let others = others.into_iter().flatten().filter(|other| other.expanded <= room);
    let least = others.min_by_key(|other| other.cost);
    least.filter(|other| other.cost < plain.cost).unwrap_or(plain)
}

/// Reads `count` texts of at most `most_bytes` each; they stand in `texts`, equal ones perhaps once.
/// The caller has checked `count`, and checks that each span is a text.
pub(super) fn read(
    reader: &mut Reader<'_>,
    count: usize,
    most_bytes: usize,
    texts: &mut String,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    read_inside(reader, count, most_bytes, texts, None)
}

fn read_inside(
    reader: &mut Reader<'_>,
    count: usize,
    most_bytes: usize,
    texts: &mut String,
    outer: Option<Form>,
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let form = Form::from_number(reader.byte()?);
    let form = form.filter(|form| outer.is_none_or(|outer| form.may_stand_in(outer)));
    match form.ok_or(UnreadableChunk::Malformed("texts are of an unknown kind"))? {
        Form::Plain => plain::read(reader, count, most_bytes, texts),
        Form::Dictionary => dictionary::read(reader, count, most_bytes, texts),
        Form::FrontCoding => front_coding::read(reader, count, most_bytes, texts),
        Form::Words => words::read(reader, count, most_bytes, texts),
    }
}

/// Adds texts that stand one behind the other to `texts`, if each is UTF-8.
fn push_texts(
    texts: &mut String,
    bytes: &[u8],
    lengths: &[u32],
) -> Result<Vec<TextSpan>, UnreadableChunk> {
    let malformed = UnreadableChunk::Malformed("a text is not UTF-8");
    let first = texts.len();
    texts.push_str(std::str::from_utf8(bytes).map_err(|_| malformed)?);
    let mut start = limit(first);
    let span = |len: &u32| {
        let span = TextSpan { start, len: *len };
        start = start.saturating_add(*len);
        span
    };
    let spans: Vec<TextSpan> = lengths.iter().map(span).collect();
    // Together they may be UTF-8, and each begin inside a character.
    let whole = |span: &TextSpan| {
        usize::try_from(span.start).is_ok_and(|start| texts.is_char_boundary(start))
    };
    if bytes.is_ascii() || spans.iter().all(whole) { Ok(spans) } else { Err(malformed) }
}

/// A limit of bytes as a number of 32 bits.
fn limit(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
