//! 3D references, which refer to the same cells of several sheets.

use super::Node;
use crate::reference::{Area, DELETED};
use crate::syntax::{Unsupported, area_at, quoted_bytes};

/// Parses a 3D reference, such as `Sheet1:Sheet3!A1` or `'My sheet:Data'!A1`. A reference to a name
/// on several sheets is unsupported and kept as text.
pub(super) fn several_sheets_node(text: &str) -> Node {
    parse(text)
        .unwrap_or_else(|| Node::Unsupported { kind: Unsupported::Sheets, text: text.to_owned() })
}

fn parse(text: &str) -> Option<Node> {
    let (sheets, target) = if text.starts_with('\'') {
        let (quoted, after_quoted) = text.split_at_checked(quoted_bytes(text, '\'')?)?;
        let inside = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
        (inside.replace("''", "'"), after_quoted.strip_prefix('!')?)
    } else {
        let (sheets, target) = text.split_once('!')?;
        (sheets.to_owned(), target)
    };
    let (first_sheet, last_sheet) = sheets.split_once(':')?;
    let area = if target.eq_ignore_ascii_case(DELETED) {
        Area::Deleted
    } else {
        area_at(target).filter(|found| found.bytes == target.len())?.area
    };
    let (first_sheet, last_sheet) = (first_sheet.to_owned(), last_sheet.to_owned());
    Some(Node::SeveralSheets { first_sheet, last_sheet, area })
}
