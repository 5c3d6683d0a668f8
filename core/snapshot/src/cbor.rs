//! The CBOR of snapshots: what surrounds each object, and how the shared types are written.
//!
//! A profile of CBOR that is read in one pass without a stack: integers, byte strings, texts, arrays
//! and maps, all of declared length. A declared length reserves no memory.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::error::SnapshotError;
use cellar_base::position::Position;
use cellar_sheet::axis_map::{Axis, AxisMap, StoredAxisMap};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// The version of all these formats.
const VERSION: u32 = 1;

/// The kinds of objects, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Root = 1,
    Moves = 2,
    Parts = 3,
    Stripes = 4,
    Tiles = 5,
    Formats = 6,
    SheetNumbers = 7,
    Clients = 8,
    Import = 9,
}

impl Kind {
    fn number(self) -> u32 {
        u32::from(self as u8)
    }

    /// The kind of a number.
    pub(super) fn from_number(number: u32) -> Option<Self> {
        const KINDS: [Kind; 9] = [
            Kind::Root,
            Kind::Moves,
            Kind::Parts,
            Kind::Stripes,
            Kind::Tiles,
            Kind::Formats,
            Kind::SheetNumbers,
            Kind::Clients,
            Kind::Import,
        ];
        KINDS.into_iter().find(|kind| kind.number() == number)
    }
}

/// The bytes of an object: an array of its kind, its version and what is in it.
pub(super) fn encode<T: Encode<()>>(kind: Kind, body: &T) -> Vec<u8> {
    // Writing to memory cannot fail.
    minicbor::to_vec((kind.number(), VERSION, body)).unwrap_or_default()
}

/// How many bytes a part of an object takes.
pub(super) fn encoded_bytes<T: Encode<()>>(part: &T) -> usize {
    minicbor::to_vec(part).map_or(0, |bytes| bytes.len())
}

/// The number of an object's kind.
pub(super) fn kind_number(bytes: &[u8]) -> Result<u32, SnapshotError> {
    let mut decoder = Decoder::new(bytes);
    if decoder.array()? != Some(3) {
        return Err(SnapshotError::Shape("it is not kind, version and content"));
    }
    Ok(decoder.u32()?)
}

/// Reads an object of one kind; total.
pub(super) fn decode<T>(kind: Kind, bytes: &[u8]) -> Result<T, SnapshotError>
where
    T: for<'b> Decode<'b, ()>,
{
    check_profile(bytes).ok_or(SnapshotError::Shape("it is not CBOR of declared lengths"))?;
    let found = kind_number(bytes)?;
    if found != kind.number() {
        return Err(SnapshotError::WrongKind { expected: kind.number(), found });
    }
    let mut decoder = Decoder::new(bytes);
    decoder.array()?;
    decoder.u32()?;
    let version = decoder.u32()?;
    if version != VERSION {
        return Err(SnapshotError::UnknownVersion { version });
    }
    let body = decoder.decode()?;
    if decoder.position() != bytes.len() {
        return Err(SnapshotError::Shape("there are bytes behind it"));
    }
    Ok(body)
}

impl From<DecodeError> for SnapshotError {
    fn from(error: DecodeError) -> Self {
        Self::Cbor { what: error.to_string() }
    }
}

/// Whether these are items of declared lengths, up to the last byte: with others inside of what is
/// skipped, a decoder needs a stack that grows with the bytes.
fn check_profile(mut bytes: &[u8]) -> Option<()> {
    const BYTES: u8 = 2;
    const TEXT: u8 = 3;
    const TAG: u8 = 6;
    while let Some((head, rest)) = bytes.split_first() {
        let (major, info) = (head >> 5, head & 0x1f);
        let argument_bytes = match info {
            0..=23 => 0,
            24..=27 => 1_usize << (info - 24),
            _ => return None,
        };
        let (argument, rest) = rest.split_at_checked(argument_bytes)?;
        let argument = argument.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        bytes = match major {
            TAG => return None,
            BYTES | TEXT => {
                let length = if argument_bytes == 0 { u64::from(info) } else { argument };
                rest.get(usize::try_from(length).ok()?..)?
            }
            _ => rest,
        };
    }
    Some(())
}

/// Decodes a list of at most `MAX`; for `#[cbor(decode_with)]`.
pub(super) fn at_most<'b, Ctx, T: Decode<'b, Ctx>, const MAX: usize>(
    decoder: &mut Decoder<'b>,
    context: &mut Ctx,
) -> Result<Vec<T>, DecodeError> {
    let mut list = Vec::new();
    for item in decoder.array_iter_with(context)? {
        if list.len() >= MAX {
            return Err(DecodeError::message("a list is longer than any may be"));
        }
        list.push(item?);
    }
    Ok(list)
}

/// Writes spans: for each, its distance from the end of the one before, and how many it has.
pub(super) fn encode_spans<W: Write>(
    spans: &Spans,
    encoder: &mut Encoder<W>,
) -> Result<(), EncodeError<W::Error>> {
    let numbers = spans.len().saturating_mul(2);
    encoder.array(u64::try_from(numbers).unwrap_or(u64::MAX))?;
    let mut end = 0;
    for span in spans.iter() {
        encoder.u32(span.first.saturating_sub(end))?.u32(span.count)?;
        end = span.end();
    }
    Ok(())
}

/// Reads spans that end at `limit` or before.
pub(super) fn decode_spans(decoder: &mut Decoder<'_>, limit: u32) -> Result<Spans, DecodeError> {
    let fault = || DecodeError::message("spans are not in order, or beyond the end");
    let mut numbers = decoder.array_iter::<u32>()?;
    let (mut spans, mut end) = (Vec::new(), 0_u32);
    while let Some(gap) = numbers.next() {
        let (gap, count) = (gap?, numbers.next().ok_or_else(fault)??);
        let apart = gap > 0 || spans.is_empty();
        let first = end.checked_add(gap).filter(|_| apart && count > 0).ok_or_else(fault)?;
        end = first.checked_add(count).filter(|end| *end <= limit).ok_or_else(fault)?;
        spans.push(Span { first, count });
    }
    Ok(Spans::from_sorted(spans))
}

macro_rules! axis_modules {
    ($spans:ident, $map:ident, $axis:expr, $what:literal) => {
        #[doc = concat!("Spans of ", $what, "; for `#[cbor(with)]`.")]
        pub(super) mod $spans {
            use super::*;

            pub(crate) fn encode<Ctx, W: Write>(
                spans: &Spans,
                encoder: &mut Encoder<W>,
                _: &mut Ctx,
            ) -> Result<(), EncodeError<W::Error>> {
                encode_spans(spans, encoder)
            }

            pub(crate) fn decode<Ctx>(
                decoder: &mut Decoder<'_>,
                _: &mut Ctx,
            ) -> Result<Spans, DecodeError> {
                decode_spans(decoder, $axis.limit())
            }
        }

        #[doc = concat!("Axis maps of ", $what, "; for `#[cbor(with)]`.")]
        pub(super) mod $map {
            use super::*;

            pub(crate) fn encode<Ctx, W: Write>(
                map: &AxisMap,
                encoder: &mut Encoder<W>,
                _: &mut Ctx,
            ) -> Result<(), EncodeError<W::Error>> {
                encoder.encode(StoredAxisMap::from(map))?.ok()
            }

            pub(crate) fn decode<Ctx>(
                decoder: &mut Decoder<'_>,
                _: &mut Ctx,
            ) -> Result<AxisMap, DecodeError> {
                let stored: StoredAxisMap = decoder.decode()?;
                stored.into_map($axis).map_err(|_| DecodeError::message("a map is none"))
            }
        }
    };
}

axis_modules!(row_spans, row_map, Axis::Rows, "rows");
axis_modules!(column_spans, column_map, Axis::Columns, "columns");

/// A position, packed into one number; for `#[cbor(with)]`.
pub(crate) mod position {
    use super::*;

    pub(crate) fn encode<Ctx, W: Write>(
        position: &Position,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        encoder.u64(position.pack())?.ok()
    }

    pub(crate) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        _: &mut Ctx,
    ) -> Result<Position, DecodeError> {
        let fault = |_| DecodeError::message("a position is out of range");
        Position::unpack(decoder.u64()?).map_err(fault)
    }
}

/// A position that may be absent; for `#[cbor(with, has_nil)]`.
pub(crate) mod optional_position {
    use super::*;

    pub(crate) fn encode<Ctx, W: Write>(
        position: &Option<Position>,
        encoder: &mut Encoder<W>,
        context: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        match position {
            Some(position) => super::position::encode(position, encoder, context),
            None => encoder.null()?.ok(),
        }
    }

    pub(crate) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        context: &mut Ctx,
    ) -> Result<Option<Position>, DecodeError> {
        super::position::decode(decoder, context).map(Some)
    }

    pub(crate) fn is_nil(position: &Option<Position>) -> bool {
        position.is_none()
    }

    pub(crate) fn nil() -> Option<Option<Position>> {
        Some(None)
    }
}

/// The number of a sheet; for `#[cbor(with)]`.
pub(crate) mod sheet_id {
    use super::*;

    pub(crate) fn encode<Ctx, W: Write>(
        sheet: &SheetId,
        encoder: &mut Encoder<W>,
        _: &mut Ctx,
    ) -> Result<(), EncodeError<W::Error>> {
        encoder.u32(sheet.0)?.ok()
    }

    pub(crate) fn decode<Ctx>(
        decoder: &mut Decoder<'_>,
        _: &mut Ctx,
    ) -> Result<SheetId, DecodeError> {
        decoder.u32().map(SheetId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_says_what_it_is() {
        let bytes = encode(Kind::Parts, &7_u32);
        assert_eq!(bytes, [0x83, 3, 1, 7]);
        assert_eq!(decode::<u32>(Kind::Parts, &bytes), Ok(7));
        let kind = SnapshotError::WrongKind { expected: 4, found: 3 };
        assert_eq!(decode::<u32>(Kind::Stripes, &bytes), Err(kind));
        let newer = SnapshotError::UnknownVersion { version: 2 };
        assert_eq!(decode::<u32>(Kind::Parts, &[0x83, 3, 2, 7]), Err(newer));
        for bad in [&[0x83, 3, 1, 7, 0][..], &[0x83, 3, 1], &[0x82, 3, 1], &[], &[0x84, 3, 1, 7, 7]]
        {
            assert!(decode::<u32>(Kind::Parts, bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_profile_has_declared_lengths_only() {
        for good in [&[0x00][..], &[0x43, 0xff, 0xff, 0xff], &[0x5b, 0, 0, 0, 0, 0, 0, 0, 1, 0xff]]
        {
            assert_eq!(check_profile(good), Some(()), "{good:?}");
        }
        for bad in [
            &[0x9f, 0xff][..],
            &[0xbf, 0xff],
            &[0x5f, 0xff],
            &[0xc0, 0x00],
            &[0x1c],
            &[0x43, 0, 0],
            &[0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x19, 0],
        ] {
            assert_eq!(check_profile(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn spans_are_apart_and_end_at_the_limit() {
        let read = |numbers: &[u32]| {
            let bytes = minicbor::to_vec(numbers).unwrap();
            decode_spans(&mut Decoder::new(&bytes), 100).ok()
        };
        let spans =
            Spans::from_sorted(vec![Span { first: 0, count: 3 }, Span { first: 5, count: 95 }]);
        assert_eq!(read(&[0, 3, 2, 95]), Some(spans));
        assert_eq!(read(&[]), Some(Spans::default()));
        for bad in [&[0, 3, 2, 96][..], &[0, 3, 0, 4], &[0], &[0, 0], &[u32::MAX, 1, 1, 1]] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
