//! Parses references to spreadsheets. Users refer to a spreadsheet by its id, its URL, its name or
//! a prefix of its id.

use std::str::FromStr;

use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::{BadName, Name};

use super::error::CliError;
use super::spreadsheet_link::{BadSpreadsheetLink, SpreadsheetLink};

pub(super) const SPREADSHEET_VARIABLE: &str = "CELLAR_SPREADSHEET";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SpreadsheetReference {
    Id(LogId),
    Link(SpreadsheetLink),
    /// A name or a prefix of an id, which must be looked up in the spreadsheet list.
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadReference {
    #[error(transparent)]
    Link(#[from] BadSpreadsheetLink),
    #[error(transparent)]
    Name(#[from] BadName),
}

impl SpreadsheetReference {
    /// Returns the id, or `None` if the spreadsheet must be looked up.
    pub(super) fn id(&self) -> Option<LogId> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Link(link) => Some(link.id),
            Self::Text(_) => None,
        }
    }

    pub(super) fn link(&self) -> Option<&SpreadsheetLink> {
        match self {
            Self::Link(link) => Some(link),
            Self::Id(_) | Self::Text(_) => None,
        }
    }
}

impl FromStr for SpreadsheetReference {
    type Err = BadReference;

    fn from_str(text: &str) -> Result<Self, BadReference> {
        let text = text.trim();
        if SpreadsheetLink::is_url(text) {
            return Ok(Self::Link(text.parse()?));
        }
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) => Ok(Self::Text(Name::new(text)?.to_string())),
        }
    }
}

pub(super) fn parse_spreadsheet_variable(text: &str) -> Result<SpreadsheetReference, CliError> {
    text.parse::<SpreadsheetReference>().map_err(|error| {
        CliError::usage(
            format!("{SPREADSHEET_VARIABLE} names no spreadsheet: {error}"),
            format!(
                "unset {SPREADSHEET_VARIABLE}, or set it to a name or id that `cellar list` prints"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_urls_and_names_are_distinguished() {
        let id: LogId = "07070707-0707-0707-0707-070707070707".parse().unwrap();
        let parsed = |text: &str| text.parse::<SpreadsheetReference>();
        assert_eq!(parsed(&id.to_string()), Ok(SpreadsheetReference::Id(id)));
        let link = SpreadsheetLink::new("http://h", id);
        assert_eq!(parsed(&link.to_string()), Ok(SpreadsheetReference::Link(link)));
        for text in ["Budget 2026", "0707", "#/s/0707", "ü"] {
            assert_eq!(parsed(text), Ok(SpreadsheetReference::Text(text.to_owned())));
        }
        assert_eq!(parsed(" Budget\t"), Ok(SpreadsheetReference::Text("Budget".to_owned())));
        assert!(matches!(parsed("https://example.com"), Err(BadReference::Link(_))));
        for text in ["", " ", "a\nb"] {
            assert!(matches!(parsed(text), Err(BadReference::Name(_))), "{text:?}");
        }
    }
}
