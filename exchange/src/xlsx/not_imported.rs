//! Counts what the reader does not take of a sheet and of the workbook part.

use quick_xml::events::BytesStart;

use crate::workbook::xml::{attribute, is_true};
use crate::{NotImported, Omission};

/// Name that Excel gives to the range of a filter.
const FILTER_NAME: &str = "_xlnm._FilterDatabase";

pub(super) fn note_sheet_tag(tag: &BytesStart<'_>, not_imported: &mut NotImported) {
    // Nearly all tags of a sheet are these.
    if matches!(tag.name().as_ref(), "c" | "v" | "t" | "is") {
        return;
    }
    let omission = match tag.local_name().as_ref() {
        "f" if attribute(tag, "t").as_deref() == Some("dataTable") => Omission::WhatIfTables,
        "row" => return note_row(tag, not_imported),
        "col" => return note_columns(tag, not_imported),
        "mergeCell" => Omission::MergedRanges,
        "hyperlink" => Omission::Links,
        "dataValidation" => Omission::DataValidations,
        // A rule without a priority is the second part of another.
        "cfRule" if attribute(tag, "priority").is_some() => Omission::ConditionalFormats,
        "pane" if is_frozen(tag) => Omission::FrozenPanes,
        "autoFilter" => Omission::Filters,
        "sheetProtection" if is_set(tag, "sheet") => Omission::Protections,
        "protectedRange" => Omission::Protections,
        "tablePart" => Omission::Tables,
        "sparkline" => Omission::Sparklines,
        _ => return,
    };
    not_imported.add(omission, 1);
}

pub(super) fn note_workbook_tag(tag: &BytesStart<'_>, not_imported: &mut NotImported) {
    let omission = match tag.local_name().as_ref() {
        "definedName" if attribute(tag, "name").as_deref() != Some(FILTER_NAME) => {
            Omission::DefinedNames
        }
        "workbookProtection" if is_set(tag, "lockStructure") || is_set(tag, "lockWindows") => {
            Omission::Protections
        }
        _ => return,
    };
    not_imported.add(omission, 1);
}

fn is_set(tag: &BytesStart<'_>, name: &str) -> bool {
    attribute(tag, name).is_some_and(|value| is_true(&value))
}

fn is_frozen(pane: &BytesStart<'_>) -> bool {
    matches!(attribute(pane, "state").as_deref(), Some("frozen" | "frozenSplit"))
}

fn note_row(tag: &BytesStart<'_>, not_imported: &mut NotImported) {
    for attribute in tag.attributes().with_checks(false).flatten() {
        let value = attribute.value.as_ref();
        let omission = match attribute.key.as_ref() {
            "customHeight" if is_true(value) => Omission::RowHeights,
            "hidden" if is_true(value) => Omission::HiddenRows,
            "customFormat" if is_true(value) => Omission::StyledRowsAndColumns,
            "outlineLevel" if value != "0" => Omission::GroupedRowsAndColumns,
            _ => continue,
        };
        not_imported.add(omission, 1);
    }
}

fn note_columns(tag: &BytesStart<'_>, not_imported: &mut NotImported) {
    let number = |name| attribute(tag, name).and_then(|value| value.parse::<u64>().ok());
    let (first, last) = (number("min").unwrap_or(1), number("max").unwrap_or(1));
    let is_hidden = is_set(tag, "hidden");
    let noted = [
        (Omission::ColumnWidths, is_set(tag, "customWidth") && !is_hidden),
        (Omission::HiddenColumns, is_hidden),
        (Omission::StyledRowsAndColumns, number("style").is_some_and(|style| style > 0)),
        (Omission::GroupedRowsAndColumns, number("outlineLevel").is_some_and(|level| level > 0)),
    ];
    not_imported.add_columns(first, last, noted);
}
