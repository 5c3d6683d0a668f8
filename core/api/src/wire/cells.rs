//! `GET /v1/spreadsheets/{id}/cells`: non-blank cells at any position.

use serde::{Deserialize, Serialize};

use cellar_base::limits::{MAX_REPLY_SPANS_BYTES, MAX_SPAN_JSON_BYTES};
use cellar_base::position::Position;
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::metadata::{Extent, RangeFormat};
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::CellAt;

/// Approximate JSON bytes of a format, without its text and spans.
const FORMAT_FRAME_BYTES: usize = 48;

/// The non-blank cells of a range, ordered by row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellsReply {
    /// Sheet id.
    pub sheet: SheetId,
    /// Name of the sheet.
    pub name: String,
    /// Position of these cells; pass it as `at` to read further pages of the same state.
    pub position: Position,
    /// Incarnation of the tables, for appends based on this position.
    pub incarnation: u32,
    /// Used range of the sheet.
    pub extent: Extent,
    /// Formats of ranges that intersect the requested range, oldest first; they also apply to blank
    /// cells. Only the first page has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<RangeFormat>,
    /// Set on the first page if the oldest formats were omitted because they exceed the size of a
    /// reply; request a smaller range.
    #[serde(default)]
    pub formats_truncated: bool,
    /// One page of cells.
    pub cells: Vec<CellAt>,
    /// Cursor of the next page, a cell in A1 notation, if the cells were truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The range formats of one reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplyFormats {
    /// The newest formats that fit, oldest first.
    pub newest: Vec<RangeFormat>,
    /// Approximate size in bytes of JSON.
    pub bytes: usize,
    /// Set if older formats were omitted.
    pub cut: bool,
}

impl ReplyFormats {
    /// Keeps the newest formats that fit, of a list ordered oldest first. A cell has the format of
    /// the newest range that contains it, so the kept ones stay correct without older ones.
    #[must_use]
    pub fn newest_of(all: Vec<RangeFormat>) -> Self {
        let mut bytes = 0_usize;
        let fits = |format: &&RangeFormat| {
            let with = bytes.saturating_add(format_bytes(format));
            let fits = with <= MAX_REPLY_SPANS_BYTES;
            bytes = if fits { with } else { bytes };
            fits
        };
        let kept = all.iter().rev().take_while(fits).count();
        let missing = all.len().saturating_sub(kept);
        Self { newest: all.into_iter().skip(missing).collect(), bytes, cut: missing > 0 }
    }
}

fn format_bytes(format: &RangeFormat) -> usize {
    let spans = format.rows.len().saturating_add(format.columns.len());
    FORMAT_FRAME_BYTES + json_text_bytes(&format.format) + spans.saturating_mul(MAX_SPAN_JSON_BYTES)
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_ROWS;
    use cellar_sheet::operation::Spans;

    use super::*;

    /// A format whose weight is exactly so many bytes.
    fn format(row: u32, bytes: usize) -> RangeFormat {
        let (rows, columns) = (Spans::one(row, 1), Spans::one(0, 1));
        let bare = RangeFormat { rows, columns, format: String::new() };
        let format = "0".repeat(bytes - format_bytes(&bare));
        RangeFormat { format, ..bare }
    }

    #[test]
    fn formats_end_at_their_limit_and_the_oldest_go() {
        let half = MAX_REPLY_SPANS_BYTES / 2;
        let fits = vec![format(0, half), format(1, MAX_REPLY_SPANS_BYTES - half)];
        let formats = ReplyFormats::newest_of(fits.clone());
        assert_eq!((formats.newest, formats.bytes), (fits, MAX_REPLY_SPANS_BYTES));
        assert!(!formats.cut);

        let old =
            vec![format(0, 200), format(1, half + 1), format(2, MAX_REPLY_SPANS_BYTES - half)];
        let formats = ReplyFormats::newest_of(old.clone());
        assert_eq!(formats.newest, old[2..], "not the small one that is older than a large one");
        assert!(formats.cut);
        assert!(ReplyFormats::newest_of(vec![format(0, MAX_REPLY_SPANS_BYTES + 1)]).cut);
    }

    #[test]
    fn the_weight_of_a_format_is_no_less_than_its_json() {
        let single = |index: u32| u32::MAX - 200 + 2 * index;
        let spans = Spans::of((0..90).map(single));
        let format = RangeFormat { rows: spans.clone(), columns: spans, format: "\"\u{1}".into() };
        let json = serde_json::to_string(&format).unwrap();
        assert!(format_bytes(&format) > json.len(), "{json}");
    }

    #[test]
    fn the_longest_span_is_as_long_as_is_reckoned() {
        let longest = cellar_sheet::operation::Span { first: MAX_ROWS - 1, count: MAX_ROWS };
        let json = serde_json::to_string(&longest).unwrap();
        assert_eq!(json.len() + ",".len(), MAX_SPAN_JSON_BYTES, "{json}");
    }
}
