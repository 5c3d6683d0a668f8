//! CBOR encoding of the ends of deleted rows or columns that axis maps do not determine.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decoder, Encoder};

use crate::saturate::to_u64;
use cellar_base::limits::MAX_LINE_ENDS;
use cellar_formula::DeletedLines;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::Span;

/// For use in `#[cbor(with, has_nil)]`. An empty list is omitted.
macro_rules! line_ends_module {
    ($name:ident, $axis:expr) => {
        pub(crate) mod $name {
            use super::*;

            pub(crate) fn encode<Ctx, W: Write>(
                ends: &[DeletedLines],
                encoder: &mut Encoder<W>,
                _: &mut Ctx,
            ) -> Result<(), EncodeError<W::Error>> {
                encode_line_ends(ends, encoder)
            }

            pub(crate) fn decode<Ctx>(
                decoder: &mut Decoder<'_>,
                _: &mut Ctx,
            ) -> Result<Vec<DeletedLines>, DecodeError> {
                decode_line_ends(decoder, $axis.limit())
            }

            pub(crate) fn is_nil(ends: &[DeletedLines]) -> bool {
                ends.is_empty()
            }

            pub(crate) fn nil() -> Option<Vec<DeletedLines>> {
                Some(Vec::new())
            }
        }
    };
}

line_ends_module!(row_ends, Axis::Rows);
line_ends_module!(column_ends, Axis::Columns);

/// Encodes the ends of each span as four numbers: the distance of the span from the end of the
/// previous one, its length, the start and the end.
fn encode_line_ends<W: Write>(
    ends: &[DeletedLines],
    encoder: &mut Encoder<W>,
) -> Result<(), EncodeError<W::Error>> {
    const NUMBERS_PER_SPAN: u64 = 4;
    encoder.array(to_u64(ends.len()) * NUMBERS_PER_SPAN)?;
    let mut previous_end = 0;
    for lines in ends {
        let Span { first, count } = lines.span;
        encoder.u32(first.saturating_sub(previous_end))?.u32(count)?;
        encoder.u32(lines.start)?.u32(lines.end)?;
        previous_end = lines.span.end();
    }
    Ok(())
}

fn decode_line_ends(
    decoder: &mut Decoder<'_>,
    axis_end: u32,
) -> Result<Vec<DeletedLines>, DecodeError> {
    let malformed = || DecodeError::message("ends of ranges are unsorted or exceed the axis");
    let mut numbers = decoder.array_iter::<u32>()?;
    let mut ends: Vec<DeletedLines> = Vec::new();
    let mut previous_end = 0_u32;
    while let Some(distance) = numbers.next() {
        if ends.len() >= MAX_LINE_ENDS {
            return Err(DecodeError::message("a list is too long"));
        }
        let first = previous_end.checked_add(distance?).ok_or_else(malformed)?;
        let mut next = || numbers.next().ok_or_else(malformed)?;
        let (count, start, end) = (next()?, next()?, next()?);
        let span_end = first.checked_add(count).ok_or_else(malformed)?;
        if count == 0 || span_end.max(start).max(end) > axis_end {
            return Err(malformed());
        }
        ends.push(DeletedLines { span: Span { first, count }, start, end });
        previous_end = span_end;
    }
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranges_are_sorted_and_bounded() {
        let read = |numbers: &[u32]| {
            let bytes = minicbor::to_vec(numbers).unwrap();
            decode_line_ends(&mut Decoder::new(&bytes), 100).ok()
        };
        let lines =
            |first, count, start, end| DeletedLines { span: Span { first, count }, start, end };
        let ends = vec![lines(3, 2, 0, 7), lines(5, 1, 100, 0), lines(99, 1, 2, 100)];
        assert_eq!(read(&[3, 2, 0, 7, 0, 1, 100, 0, 93, 1, 2, 100]), Some(ends));
        for bad in [
            &[3, 2, 0][..],
            &[3, 0, 0, 7],
            &[3, 98, 0, 7],
            &[3, 2, 101, 7],
            &[3, 2, 0, 101],
            &[u32::MAX, 2, 0, 0],
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        let of_count = |count: usize| read_all(count).is_ok();
        assert!(of_count(MAX_LINE_ENDS) && !of_count(MAX_LINE_ENDS + 1));
    }

    fn read_all(count: usize) -> Result<Vec<DeletedLines>, DecodeError> {
        let bytes = minicbor::to_vec([1, 1, 0, 0].repeat(count)).unwrap();
        decode_line_ends(&mut Decoder::new(&bytes), u32::MAX)
    }
}
