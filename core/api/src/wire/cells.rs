//! Reading cells at any position of the log: `GET /v1/spreadsheets/{id}/cells`.

use serde::{Deserialize, Serialize};

use cellar_base::limits::{MAX_REPLY_SPANS_BYTES, MAX_SPAN_JSON_BYTES};
use cellar_base::position::Position;
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::metadata::{Extent, RangeFormat};
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::CellAt;

/// Approximate size of the JSON encoding of a range format without its text and spans, in bytes.
const FORMAT_FRAME_BYTES: usize = 48;

/// The cells of a range that are not blank, ordered by row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellsReply {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet.
    pub name: String,
    /// Position of the state that was read. To read further pages of the same state, send it as
    /// `at`.
    pub position: Position,
    /// Incarnation of the tables: the number of times that they were restored. It must be sent with
    /// edits that are based on this position.
    pub incarnation: u32,
    /// Used range of the sheet, with the cells that results of formulas fill.
    pub extent: Extent,
    /// Range formats that intersect the requested range, oldest first. They also apply to blank
    /// cells. Only the first page contains range formats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<RangeFormat>,
    /// Whether the oldest range formats were omitted because the first page would otherwise be too
    /// large. To get all range formats, request a smaller range.
    #[serde(default)]
    pub formats_truncated: bool,
    /// One page of cells.
    pub cells: Vec<CellAt>,
    /// Cursor of the next page, which is a cell in A1 notation. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The range formats in a response. If there are too many, only the newest are included.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplyFormats {
    /// Range formats, oldest first.
    pub newest: Vec<RangeFormat>,
    /// Approximate size of the JSON encoding of the range formats, in bytes.
    pub bytes: usize,
    /// Whether older range formats were omitted.
    pub truncated: bool,
}

impl ReplyFormats {
    /// Selects the newest range formats that fit into a response. `formats` starts with the oldest.
    ///
    /// The newest range format that contains a cell determines the format of the cell. Omitting
    /// older range formats therefore does not change the formats that the selected ones determine.
    #[must_use]
    pub fn newest_of(formats: Vec<RangeFormat>) -> Self {
        let mut bytes = 0_usize;
        let mut selected_count = 0_usize;
        for format in formats.iter().rev() {
            let bytes_with_format = bytes.saturating_add(format_bytes(format));
            if bytes_with_format > MAX_REPLY_SPANS_BYTES {
                break;
            }
            bytes = bytes_with_format;
            selected_count += 1;
        }
        let omitted_count = formats.len().saturating_sub(selected_count);
        let newest = formats.into_iter().skip(omitted_count).collect();
        Self { newest, bytes, truncated: omitted_count > 0 }
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

    /// Creates a range format whose approximate size is `bytes`.
    fn format(row: u32, bytes: usize) -> RangeFormat {
        let (rows, columns) = (Spans::one(row, 1), Spans::one(0, 1));
        let bare = RangeFormat { rows, columns, format: String::new() };
        let format = "0".repeat(bytes - format_bytes(&bare));
        RangeFormat { format, ..bare }
    }

    #[test]
    fn omits_the_oldest_formats_over_the_limit() {
        let half = MAX_REPLY_SPANS_BYTES / 2;
        let fits = vec![format(0, half), format(1, MAX_REPLY_SPANS_BYTES - half)];
        let formats = ReplyFormats::newest_of(fits.clone());
        assert_eq!((formats.newest, formats.bytes), (fits, MAX_REPLY_SPANS_BYTES));
        assert!(!formats.truncated);

        let old =
            vec![format(0, 200), format(1, half + 1), format(2, MAX_REPLY_SPANS_BYTES - half)];
        let formats = ReplyFormats::newest_of(old.clone());
        assert_eq!(
            formats.newest,
            old[2..],
            "a small format that is older than an omitted one is omitted"
        );
        assert!(formats.truncated);
        assert!(ReplyFormats::newest_of(vec![format(0, MAX_REPLY_SPANS_BYTES + 1)]).truncated);
    }

    #[test]
    fn format_weight_is_an_upper_bound_of_its_json() {
        let single = |index: u32| u32::MAX - 200 + 2 * index;
        let spans = Spans::of((0..90).map(single));
        let format = RangeFormat { rows: spans.clone(), columns: spans, format: "\"\u{1}".into() };
        let json = serde_json::to_string(&format).unwrap();
        assert!(format_bytes(&format) > json.len(), "{json}");
    }

    #[test]
    fn the_longest_span_fits_its_limit() {
        let longest = cellar_sheet::operation::Span { first: MAX_ROWS - 1, count: MAX_ROWS };
        let json = serde_json::to_string(&longest).unwrap();
        assert_eq!(json.len() + ",".len(), MAX_SPAN_JSON_BYTES, "{json}");
    }
}
