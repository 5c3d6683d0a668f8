//! CBOR encoding of snapshot objects: the object header and shared types. Only a subset of CBOR is
//! used: integers, byte strings, text strings, arrays and maps, all of definite length. Such
//! objects can be parsed in one pass without a stack. The decoder never allocates memory based on a
//! declared length alone.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::error::SnapshotError;
use crate::saturate::to_u64;
use cellar_base::position::Position;
use cellar_sheet::axis_map::{Axis, AxisMap, StoredAxisMap};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// The first format version of all kinds of snapshot objects.
pub(super) const VERSION_1: u32 = 1;
/// The format version of objects with formulas, and with ends of ranges.
pub(super) const VERSION_2: u32 = 2;

/// Contents of an object. The version of an object is the oldest one that can represent its
/// contents, so that older releases can read objects without formulas.
pub(super) trait Body: Encode<()> {
    /// The newest version that objects with contents of this type can have.
    const NEWEST_VERSION: u32 = VERSION_1;

    /// Returns the oldest version that can represent the contents.
    fn version(&self) -> u32 {
        VERSION_1
    }
}

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

/// Encodes an object as a CBOR array of its kind, version and body.
pub(super) fn encode<T: Body>(kind: Kind, body: &T) -> Vec<u8> {
    minicbor::to_vec((kind.number(), body.version(), body)).unwrap_or_default()
}

pub(super) fn encoded_byte_length<T: Encode<()>>(part: &T) -> usize {
    minicbor::to_vec(part).map_or(0, |bytes| bytes.len())
}

pub(super) fn kind_number(bytes: &[u8]) -> Result<u32, SnapshotError> {
    read_kind_number(&mut Decoder::new(bytes))
}

fn read_kind_number(decoder: &mut Decoder<'_>) -> Result<u32, SnapshotError> {
    /// Kind, version and body.
    const OBJECT_ITEMS: u64 = 3;
    if decoder.array()? != Some(OBJECT_ITEMS) {
        return Err(SnapshotError::Shape(
            "an object is not a CBOR array of kind, version and body",
        ));
    }
    Ok(decoder.u32()?)
}

/// Never panics on malformed bytes.
pub(super) fn decode<T>(expected_kind: Kind, bytes: &[u8]) -> Result<T, SnapshotError>
where
    T: for<'b> Decode<'b, ()> + Body,
{
    if !has_only_declared_lengths(bytes) {
        return Err(SnapshotError::Shape(
            "an object is not CBOR, or has an item of indefinite length",
        ));
    }
    let mut decoder = Decoder::new(bytes);
    let kind = read_kind_number(&mut decoder)?;
    if kind != expected_kind.number() {
        return Err(SnapshotError::WrongKind { expected: expected_kind.number(), found: kind });
    }
    let version = decoder.u32()?;
    if !(VERSION_1..=T::NEWEST_VERSION).contains(&version) {
        return Err(SnapshotError::UnknownVersion { version });
    }
    let body: T = decoder.decode()?;
    if body.version() != version {
        return Err(SnapshotError::Shape(
            "the contents of an object are of another version than the object",
        ));
    }
    if decoder.position() != bytes.len() {
        return Err(SnapshotError::Shape("an object has trailing bytes"));
    }
    Ok(body)
}

impl From<DecodeError> for SnapshotError {
    fn from(error: DecodeError) -> Self {
        Self::Cbor { what: error.to_string() }
    }
}

/// Items of indefinite length are rejected, because skipping nested ones would need a stack that
/// grows with the input.
fn has_only_declared_lengths(bytes: &[u8]) -> bool {
    let mut unread_bytes = bytes;
    while !unread_bytes.is_empty() {
        match skip_head_and_string(unread_bytes) {
            Some(following_bytes) => unread_bytes = following_bytes,
            None => return false,
        }
    }
    true
}

/// Returns `None` if the item is outside this module's CBOR subset.
fn skip_head_and_string(bytes: &[u8]) -> Option<&[u8]> {
    const BYTE_STRING: u8 = 2;
    const TEXT_STRING: u8 = 3;
    const TAG: u8 = 6;
    let (head, after_head) = ItemHead::read(bytes)?;
    match head.major_type {
        BYTE_STRING | TEXT_STRING => {
            let string_length = usize::try_from(head.argument).ok()?;
            after_head.get(string_length..)
        }
        TAG => None,
        _ => Some(after_head),
    }
}

struct ItemHead {
    major_type: u8,
    /// Value of an integer, length of a string, or number of items of an array or map.
    argument: u64,
}

impl ItemHead {
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        const MAX_SHORT_ARGUMENT: u8 = 23;
        const ONE_BYTE_ARGUMENT: u8 = 24;
        const EIGHT_BYTE_ARGUMENT: u8 = 27;
        let (initial_byte, after_initial_byte) = bytes.split_first()?;
        let major_type = initial_byte >> 5;
        let short_argument = initial_byte & 0x1f;
        if short_argument <= MAX_SHORT_ARGUMENT {
            let head = Self { major_type, argument: u64::from(short_argument) };
            return Some((head, after_initial_byte));
        }
        if short_argument > EIGHT_BYTE_ARGUMENT {
            return None;
        }
        let argument_byte_length = 1 << (short_argument - ONE_BYTE_ARGUMENT);
        let (argument_bytes, after_head) =
            after_initial_byte.split_at_checked(argument_byte_length)?;
        Some((Self { major_type, argument: from_big_endian(argument_bytes) }, after_head))
    }
}

/// Decodes at most 8 bytes.
fn from_big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// For use in `#[cbor(decode_with)]`.
pub(super) fn at_most<'b, Ctx, T: Decode<'b, Ctx>, const MAX: usize>(
    decoder: &mut Decoder<'b>,
    context: &mut Ctx,
) -> Result<Vec<T>, DecodeError> {
    let mut list = Vec::new();
    for item in decoder.array_iter_with(context)? {
        if list.len() >= MAX {
            return Err(DecodeError::message("a list is too long"));
        }
        list.push(item?);
    }
    Ok(list)
}

/// Encodes each span as two numbers: its distance from the end of the previous span, and its
/// length.
pub(super) fn encode_spans<W: Write>(
    spans: &Spans,
    encoder: &mut Encoder<W>,
) -> Result<(), EncodeError<W::Error>> {
    const NUMBERS_PER_SPAN: u64 = 2;
    encoder.array(to_u64(spans.len()) * NUMBERS_PER_SPAN)?;
    let mut previous_end = 0;
    for span in spans.iter() {
        encoder.u32(span.first.saturating_sub(previous_end))?.u32(span.count)?;
        previous_end = span.end();
    }
    Ok(())
}

pub(super) fn decode_spans(decoder: &mut Decoder<'_>, axis_end: u32) -> Result<Spans, DecodeError> {
    let malformed = || DecodeError::message("spans are unsorted or exceed the axis");
    let mut numbers = decoder.array_iter::<u32>()?;
    let mut spans = Vec::new();
    let mut previous_end = 0_u32;
    while let Some(distance) = numbers.next() {
        let distance = distance?;
        let count = numbers.next().ok_or_else(malformed)??;
        let touches_previous_span = distance == 0 && !spans.is_empty();
        if touches_previous_span || count == 0 {
            return Err(malformed());
        }
        let first = previous_end.checked_add(distance).ok_or_else(malformed)?;
        let end = first.checked_add(count).ok_or_else(malformed)?;
        if end > axis_end {
            return Err(malformed());
        }
        spans.push(Span { first, count });
        previous_end = end;
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
                stored.into_map($axis).map_err(|_| DecodeError::message("an axis map is invalid"))
            }
        }
    };
}

axis_modules!(row_spans, row_map, Axis::Rows, "rows");
axis_modules!(column_spans, column_map, Axis::Columns, "columns");

/// Encodes a position as one packed integer. For use in `#[cbor(with)]`.
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

/// Encodes an optional position as one packed integer. For use in `#[cbor(with, has_nil)]`.
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

/// For use in `#[cbor(with)]`.
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

    impl Body for u32 {}

    #[test]
    fn an_object_has_a_kind_and_a_version() {
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
            assert!(has_only_declared_lengths(good), "{good:?}");
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
            assert!(!has_only_declared_lengths(bad), "{bad:?}");
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
