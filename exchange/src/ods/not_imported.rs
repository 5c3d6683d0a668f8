//! Counts what the reader does not take of an ods file.

use quick_xml::events::BytesStart;

use crate::workbook::xml::{attribute, is_true};
use crate::{NotImported, Omission};

/// Name of the range that a filter without a name has.
const FILTER_NAME_START: &str = "__Anonymous_Sheet_DB__";

pub(super) fn note_tag(tag: &BytesStart<'_>, not_imported: &mut NotImported) {
    let name = tag.name();
    let omission = match name.as_ref() {
        "text:p" | "table:covered-table-cell" => return,
        "table:table-cell" => return note_cell(tag, not_imported),
        "table:table-row" if is_hidden(tag) => Omission::HiddenRows,
        "table:table-column" if is_hidden(tag) => Omission::HiddenColumns,
        "table:table-row-group" | "table:table-column-group" => Omission::GroupedRowsAndColumns,
        "table:table" if is_protected(tag) => Omission::Protections,
        "office:spreadsheet"
            if attribute(tag, "structure-protected").is_some_and(|value| is_true(&value)) =>
        {
            Omission::Protections
        }
        "text:a" => Omission::Links,
        "text:span" => Omission::FormattedTexts,
        "office:annotation" => Omission::Comments,
        "table:content-validation" => Omission::DataValidations,
        "calcext:condition" | "calcext:color-scale" | "calcext:data-bar" | "calcext:icon-set" => {
            Omission::ConditionalFormats
        }
        "calcext:sparkline" => Omission::Sparklines,
        "table:named-range" | "table:named-expression" => Omission::DefinedNames,
        "table:database-range" => of_database_range(tag),
        "table:data-pilot-table" => Omission::PivotTables,
        // An object has a picture of itself.
        "draw:image" if !is_replacement(tag) => Omission::Pictures,
        "draw:object" => Omission::Charts,
        "draw:control" => Omission::Controls,
        "draw:custom-shape" | "draw:rect" | "draw:line" | "draw:ellipse" | "draw:text-box" => {
            Omission::Shapes
        }
        _ => return,
    };
    not_imported.add(omission, 1);
}

fn note_cell(cell: &BytesStart<'_>, not_imported: &mut NotImported) {
    let (mut is_merged, mut is_array) = (false, false);
    for attribute in cell.attributes().with_checks(false).flatten() {
        match attribute.key.as_ref() {
            "table:number-columns-spanned" | "table:number-rows-spanned" => {
                is_merged |= attribute.value.as_ref() != "1";
            }
            "table:number-matrix-columns-spanned" | "table:number-matrix-rows-spanned" => {
                is_array |= attribute.value.as_ref() != "1";
            }
            _ => {}
        }
    }
    not_imported.add(Omission::MergedRanges, u64::from(is_merged));
    not_imported.add(Omission::ArrayFormulas, u64::from(is_array));
}

fn is_hidden(tag: &BytesStart<'_>) -> bool {
    matches!(attribute(tag, "visibility").as_deref(), Some("collapse" | "filter"))
}

fn is_protected(table: &BytesStart<'_>) -> bool {
    attribute(table, "protected").is_some_and(|value| is_true(&value))
}

fn is_replacement(image: &BytesStart<'_>) -> bool {
    attribute(image, "href").is_some_and(|path| path.contains("ObjectReplacements/"))
}

fn of_database_range(range: &BytesStart<'_>) -> Omission {
    let is_filter =
        attribute(range, "name").is_some_and(|name| name.starts_with(FILTER_NAME_START));
    if is_filter { Omission::Filters } else { Omission::DefinedNames }
}
