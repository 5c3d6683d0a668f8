//! Presence: `PUT` and `GET /v1/spreadsheets/{id}/presence`.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_base::position::Position;
use cellar_log::presence::{self, OtherClient};
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::operation::SheetId;
use serde::{Deserialize, Serialize};

use super::hexadecimal;

/// An announcement of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresenceRequest {
    /// Client id, 1 to 64 bytes long and unique per user.
    pub client_id: String,
    /// The selected cells. Absent if the client leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
}

/// The cells that a client has selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Selection {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// First row, from 0.
    pub first_row: u32,
    /// Last row. It is not before the first one.
    pub last_row: u32,
    /// First column, from 0.
    pub first_column: u32,
    /// Last column. It is not before the first one.
    pub last_column: u32,
    /// Position whose rows and columns are stated. The server does not check that it exists.
    pub at: Position,
}

/// A selection does not consist of cells that a sheet can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadSelection {
    /// The selection has no row or no column.
    #[error(
        "the first {axis} is {first}, but the last one is {last}; send the smaller number first"
    )]
    Backward {
        /// `row` or `column`.
        axis: &'static str,
        /// First row or column.
        first: u32,
        /// Last row or column.
        last: u32,
    },
    /// No sheet can have the last row or column.
    #[error("the last {axis} is {last}; it must be at most {max}, because {axis}s count from 0")]
    Beyond {
        /// `row` or `column`.
        axis: &'static str,
        /// Last row or column.
        last: u32,
        /// Last possible row or column.
        max: u32,
    },
}

impl Selection {
    /// Checks the rows and columns.
    ///
    /// # Errors
    /// Returns [`BadSelection`] if the selection is empty or beyond the end of the largest possible
    /// sheet.
    pub fn parse(&self) -> Result<presence::Selection, BadSelection> {
        let Self { sheet, first_row, last_row, first_column, last_column, at } = *self;
        check("row", (first_row, last_row), MAX_ROWS)?;
        check("column", (first_column, last_column), MAX_COLUMNS)?;
        let first = CellName { row: first_row, column: first_column };
        let last = CellName { row: last_row, column: last_column };
        let area = SheetArea { sheet, cells: Rectangle { first, last } };
        Ok(presence::Selection { area, at })
    }
}

fn check(axis: &'static str, (first, last): (u32, u32), limit: u32) -> Result<(), BadSelection> {
    if first > last {
        return Err(BadSelection::Backward { axis, first, last });
    }
    if last >= limit {
        return Err(BadSelection::Beyond { axis, last, max: limit - 1 });
    }
    Ok(())
}

impl From<presence::Selection> for Selection {
    fn from(selection: presence::Selection) -> Self {
        let SheetArea { sheet, cells: Rectangle { first, last } } = selection.area;
        Self {
            sheet,
            first_row: first.row,
            last_row: last.row,
            first_column: first.column,
            last_column: last.column,
            at: selection.at,
        }
    }
}

/// The selections of other clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresenceReply {
    /// Other clients that have announced a selection within 45 seconds, newest first. At most 64
    /// clients are stored; further ones are not shown to anybody.
    pub others: Vec<PresenceView>,
}

/// Another client that has the spreadsheet open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresenceView {
    /// `client_key` of the entries of this client, as 16 hexadecimal digits. It does not reveal the
    /// client id.
    pub client_key: String,
    /// Author of the entries of this client.
    pub author: String,
    /// The cells that the client has selected.
    pub selection: Selection,
    /// Time since the announcement, in milliseconds.
    pub seen_ms_ago: u64,
}

impl From<OtherClient> for PresenceView {
    fn from(other: OtherClient) -> Self {
        Self {
            client_key: hexadecimal(&other.presence.client.0),
            author: other.presence.author,
            selection: other.presence.selection.into(),
            seen_ms_ago: other.seen_ms_ago,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: Selection = Selection {
        sheet: SheetId(u32::MAX),
        first_row: 0,
        last_row: MAX_ROWS - 1,
        first_column: MAX_COLUMNS - 1,
        last_column: MAX_COLUMNS - 1,
        at: Position::LAST,
    };

    #[test]
    fn selections_end_at_the_limits_of_sheets() {
        assert_eq!(LARGEST.parse().map(Selection::from), Ok(LARGEST));
        for (wrong, message) in [
            (Selection { last_row: MAX_ROWS, ..LARGEST }, "at most 1073741823"),
            (Selection { last_column: MAX_COLUMNS, ..LARGEST }, "at most 4194303"),
            (Selection { first_row: MAX_ROWS, ..LARGEST }, "the first row is 1073741824"),
            (Selection { last_column: 0, ..LARGEST }, "the first column is 4194303"),
            (Selection { last_row: u32::MAX, ..LARGEST }, "the last row is 4294967295"),
        ] {
            let error = wrong.parse().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_selection_is_complete_or_absent() {
        let parse = |json: &str| serde_json::from_str::<PresenceRequest>(json);
        assert_eq!(parse(r#"{"client_id":"c"}"#).unwrap().selection, None);
        let request = PresenceRequest { client_id: "c".into(), selection: Some(LARGEST) };
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(parse(&json).unwrap(), request);
        assert!(parse(&json.replace(r#""first_row":0,"#, "")).is_err());
        assert!(parse(&json.replace("first_row", "row")).is_err());
    }
}
