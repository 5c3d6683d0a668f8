//! `GET /v1/spreadsheets/{id}/cells`: materialised cells at any position in history.

use serde::{Deserialize, Serialize};

use cellar_base::limits::{MAX_REPLY_SPANS_BYTES, MAX_SPAN_JSON_BYTES};
use cellar_base::position::Position;
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{CellAt, Extent, RangeFormat};

/// About how many bytes of JSON a format takes besides its text and its spans.
const FORMAT_FRAME_BYTES: usize = 48;

/// The cells of a range that are not blank, by row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellsReply {
    /// The sheet.
    pub sheet: SheetId,
    /// Its name.
    pub name: String,
    /// The position at which these are the cells; pass it as `at` to get further pages of the same.
    pub position: Position,
    /// The incarnation, for appends based on what was read here.
    pub incarnation: u32,
    /// How far the whole sheet was ever written to.
    pub extent: Extent,
    /// The formats of ranges that meet the range, oldest first: for cells that are blank so far.
    /// They come with the first page only, which is the one without `from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<RangeFormat>,
    /// On the first page: there are more formats than fit one reply. The oldest are missing, and
    /// come with no page: ask for a smaller range.
    #[serde(default)]
    pub formats_truncated: bool,
    /// The cells.
    pub cells: Vec<CellAt>,
    /// If the cells were cut: the cell to go on `from`, in A1 notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The formats of ranges that a reply has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplyFormats {
    /// The newest that fit, oldest first.
    pub newest: Vec<RangeFormat>,
    /// About how many bytes of JSON they take.
    pub bytes: usize,
    /// Whether older ones are missing.
    pub cut: bool,
}

impl ReplyFormats {
    /// As many as fit, of all, oldest first. The newest that holds a cell counts: without older ones
    /// the others are still right.
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
