//! Encodes the header of an entry in postcard, without trailing zero bytes. Loading a spreadsheet
//! reads thousands of headers, so each byte counts. Most headers end with three zero bytes, which
//! are omitted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{BodyError, Header};
use cellar_base::limits::MAX_SUMMARY_RUNS;
use cellar_sheet::metadata::{SheetNumbers, SheetSet, StateSummary};
use cellar_sheet::operation::{Span, Spans};

/// Zero bytes to append to a header before it is decoded. They stand for the omitted fields, each
/// of which takes one byte.
const OMITTED_ZEROS: [u8; 9] = [0; 9];

/// Value of [`StoredHeader::sheets`] for a workbook that never had a second sheet.
const ONLY_FIRST_SHEET: u32 = 0;
/// Value of [`StoredHeader::sheets`] in a header without a state summary.
const NO_SUMMARY: u32 = 1;

/// The sheet numbers take no bytes in workbooks that never had a second sheet, which are the
/// majority.
#[derive(Serialize, Deserialize)]
struct StoredHeader {
    segment_bytes: u64,
    incarnation: u32,
    snapshot_num: u32,
    snapshot_bytes: u64,
    /// [`ONLY_FIRST_SHEET`], [`NO_SUMMARY`], or the highest sheet number ever used plus one.
    sheets: u32,
    format_spans: u32,
    /// Runs of deleted sheet numbers, each as its first number and its length.
    deleted: Vec<(u32, u32)>,
    /// Runs of unused sheet numbers below the next sheet number.
    skipped: Vec<(u32, u32)>,
    outside_bytes: u64,
}

impl From<&Header> for StoredHeader {
    fn from(header: &Header) -> Self {
        let stored = Self {
            segment_bytes: header.segment_bytes,
            incarnation: header.incarnation,
            snapshot_num: header.snapshot_num,
            snapshot_bytes: header.snapshot_bytes,
            sheets: NO_SUMMARY,
            format_spans: 0,
            deleted: Vec::new(),
            skipped: Vec::new(),
            outside_bytes: header.outside_bytes,
        };
        match header.summary.as_deref() {
            Some(summary) if summary.fits_a_header() => stored.with_summary(summary),
            _ => stored,
        }
    }
}

impl StoredHeader {
    fn with_summary(self, summary: &StateSummary) -> Self {
        let used_numbers = summary.sheets.used().runs();
        let deleted_numbers = used_numbers.without(summary.sheets.live());
        let next_number = summary.sheets.used().next().0;
        let skipped_numbers = Spans::one(0, next_number).without(used_numbers);
        Self {
            sheets: match next_number {
                0 => NO_SUMMARY,
                1 => ONLY_FIRST_SHEET,
                _ => next_number,
            },
            format_spans: summary.format_spans,
            deleted: encode_runs(&deleted_numbers),
            skipped: encode_runs(&skipped_numbers),
            ..self
        }
    }

    fn summary(&self) -> Result<Option<StateSummary>, BodyError> {
        let next_number = match self.sheets {
            NO_SUMMARY => return Ok(None),
            ONLY_FIRST_SHEET => 1,
            next_number => next_number,
        };
        let used_numbers = Spans::one(0, next_number).without(&decode_runs(&self.skipped)?);
        let live_numbers = used_numbers.without(&decode_runs(&self.deleted)?);
        let sheets = SheetSet::new(live_numbers, SheetNumbers::from_runs(used_numbers));
        Ok(Some(StateSummary { sheets, format_spans: self.format_spans }))
    }
}

impl TryFrom<StoredHeader> for Header {
    type Error = BodyError;

    fn try_from(stored: StoredHeader) -> Result<Self, BodyError> {
        let summary = stored.summary()?.map(Arc::new);
        let StoredHeader { segment_bytes, incarnation, snapshot_num, snapshot_bytes, .. } = stored;
        let outside_bytes = stored.outside_bytes;
        Ok(Self {
            segment_bytes,
            incarnation,
            snapshot_num,
            snapshot_bytes,
            outside_bytes,
            summary,
        })
    }
}

fn encode_runs(sheet_numbers: &Spans) -> Vec<(u32, u32)> {
    sheet_numbers.iter().map(|run| (run.first, run.count)).collect()
}

/// The numbers must be in ascending order.
fn decode_runs(runs: &[(u32, u32)]) -> Result<Spans, BodyError> {
    const MAX_RUNS: usize = 2 * MAX_SUMMARY_RUNS;
    let is_ascending = runs.windows(2).all(|pair| match pair {
        [(first, count), (next_first, _)] => {
            first.checked_add(*count).is_some_and(|end| end <= *next_first)
        }
        _ => true,
    });
    if !is_ascending || runs.len() > MAX_RUNS {
        return Err(BodyError::InvalidContent("the sheet numbers in the header are out of order"));
    }
    let spans = runs.iter().map(|(first, count)| Span { first: *first, count: *count });
    Ok(Spans::from_sorted(spans.collect()))
}

/// Encodes a header.
///
/// # Errors
/// Returns an error only if the encoder fails, which never happens for these types.
pub fn encode_header(header: &Header) -> Result<Vec<u8>, BodyError> {
    let mut bytes = postcard::to_allocvec(&StoredHeader::from(header))?;
    // In postcard, a number ends with a zero byte only if the number itself is zero.
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(bytes)
}

/// Decodes a header. Never panics on malformed bytes.
///
/// # Errors
/// Returns a [`BodyError`] if the bytes are not a valid header.
pub fn decode_header(bytes: &[u8]) -> Result<Header, BodyError> {
    let padded = [bytes, &OMITTED_ZEROS].concat();
    let (stored, trailing_bytes) = postcard::take_from_bytes::<StoredHeader>(&padded)?;
    if trailing_bytes.iter().any(|byte| *byte != 0) {
        return Err(BodyError::InvalidContent("there are bytes after the header"));
    }
    Header::try_from(stored)
}

/// Decodes a header without a state summary, which an older release wrote. Never panics on
/// malformed bytes.
///
/// # Errors
/// Returns a [`BodyError`] if the bytes are not a valid header.
pub fn decode_old_header(bytes: &[u8]) -> Result<Header, BodyError> {
    Ok(Header { summary: None, ..decode_header(bytes)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use cellar_sheet::operation::SheetId;

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(128), Just(1 << 14), any::<u32>()]
    }

    /// Returns the state summary of a workbook after the sheets with these numbers were added and
    /// the sheets marked `true` were then deleted.
    fn summary(sheets: &[(u32, bool)], format_spans: u32) -> StateSummary {
        let mut summary = StateSummary { format_spans, ..StateSummary::first() };
        for (sheet, deleted) in sheets {
            let _ = summary.sheets.add(SheetId(*sheet));
            if *deleted {
                let _ = summary.sheets.delete(SheetId(*sheet));
            }
        }
        summary
    }

    proptest! {
        #[test]
        fn headers_round_trip(
            a in number(), b in number(), c in number(), d in number(), e in number(),
            sheets in proptest::option::of(proptest::collection::vec((0..80_u32, any::<bool>()), 0..60)),
        ) {
            let summary = sheets.map(|sheets| Arc::new(summary(&sheets, a)));
            let header = Header {
                summary,
                segment_bytes: u64::from(a) << 20,
                incarnation: b,
                snapshot_num: c,
                snapshot_bytes: u64::from(d),
                outside_bytes: u64::from(e) << 8,
            };
            prop_assert_eq!(decode_header(&encode_header(&header).unwrap()).unwrap(), header);
        }

        #[test]
        fn any_bytes_give_a_header_or_an_error(bytes: Vec<u8>) {
            let _ = decode_header(&bytes);
        }
    }

    #[test]
    fn a_header_omits_the_only_sheet() {
        let first = Header::first(super::super::FIRST_INCARNATION);
        assert_eq!(encode_header(&first).unwrap(), [0; 0]);
        assert_eq!(encode_header(&first.followed_by(20_000)).unwrap().len(), 3);
        let without = Header { summary: None, ..first };
        assert_eq!(encode_header(&without).unwrap(), [0, 0, 0, 0, 1]);
        assert!(decode_header(&[1, 1, 1, 1, 1, 0, 0, 0, 1, 1]).is_err());
        // The runs overlap.
        assert!(decode_header(&[1, 1, 1, 1, 9, 0, 2, 1, 3, 2, 1]).is_err());
    }

    #[test]
    fn outside_bytes_are_omitted_if_there_are_none() {
        let first = Header::first(super::super::FIRST_INCARNATION);
        let large = Header { outside_bytes: 5 << 20, ..first };
        let bytes = encode_header(&large).unwrap();
        assert_eq!(bytes.len(), 12);
        assert_eq!(decode_header(&bytes).unwrap(), large);
    }

    #[test]
    fn a_header_from_before_the_summary_has_none() {
        let header = decode_old_header(&[1, 2, 3, 4]).unwrap();
        assert_eq!((header.segment_bytes, header.incarnation, header.summary), (1, 2, None));
        assert_eq!((header.snapshot_num, header.snapshot_bytes), (3, 4));
        assert_eq!(decode_old_header(&[]).unwrap().summary, None);
    }

    #[test]
    fn a_header_omits_the_summary_above_the_limit_of_runs() {
        let most = u32::try_from(MAX_SUMMARY_RUNS).unwrap();
        for (runs, kept) in [(most, true), (most + 1, false)] {
            let sheets: Vec<(u32, bool)> = (1..runs).map(|sheet| (sheet * 2, false)).collect();
            let summary = Some(Arc::new(summary(&sheets, 0)));
            let header = Header::of_segment(0, summary);
            let read = decode_header(&encode_header(&header).unwrap()).unwrap();
            assert_eq!(read.summary.is_some(), kept, "{runs}");
        }
    }
}
