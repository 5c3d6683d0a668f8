//! Counts the contents of a workbook that an import does not take.

use std::fmt;

use cellar_base::count::grouped;

use super::EXCEL_COLUMNS;

use Omission::{
    ArrayFormulas, Charts, ColumnWidths, Comments, ConditionalFormats, Controls, DataConnections,
    DataValidations, DateFormats, DefinedNames, ExternalLinks, Filters, FormattedTexts, Formulas,
    FrozenPanes, GroupedRowsAndColumns, HiddenColumns, HiddenRows, HiddenSheets, Links, Macros,
    MergedRanges, OtherSheets, PhoneticTexts, Pictures, PivotTables, Protections, RowHeights,
    Shapes, Slicers, Sparklines, StyledCells, StyledRowsAndColumns, Tables, UncalculatedFormulas,
    WhatIfTables,
};

/// A kind of contents that an import of a workbook does not take. Number formats of cells are taken.
/// Settings of printing and of the display are neither taken nor counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Omission {
    /// Cells with a font, fill, border or alignment other than the default.
    StyledCells,
    /// Rows and columns with a style.
    StyledRowsAndColumns,
    /// Texts with differently formatted parts.
    FormattedTexts,
    /// Texts with a phonetic guide.
    PhoneticTexts,
    /// Cells with a date format that is replaced by a similar one.
    DateFormats,
    /// Merged ranges; the value of the top left cell is imported.
    MergedRanges,
    /// Columns with a width that was set.
    ColumnWidths,
    /// Rows with a height that was set.
    RowHeights,
    /// Hidden rows; their cells are imported.
    HiddenRows,
    /// Hidden columns; their cells are imported.
    HiddenColumns,
    /// Hidden sheets; their cells are imported.
    HiddenSheets,
    /// Rows and columns of an outline.
    GroupedRowsAndColumns,
    /// Sheets with frozen rows or columns.
    FrozenPanes,
    /// Cells or ranges with a hyperlink.
    Links,
    /// Notes and comments of cells.
    Comments,
    /// Rules about the values of cells.
    DataValidations,
    /// Rules of conditional formats.
    ConditionalFormats,
    /// Filters of ranges and tables.
    Filters,
    /// Names of ranges and formulas, including print areas.
    DefinedNames,
    /// Protected sheets, ranges and workbooks.
    Protections,
    /// Tables within sheets; their cells are imported.
    Tables,
    /// Pivot tables; the cells that they show are imported.
    PivotTables,
    /// Charts.
    Charts,
    /// Pictures.
    Pictures,
    /// Drawn shapes and text boxes.
    Shapes,
    /// Charts within cells.
    Sparklines,
    /// Slicers and timelines.
    Slicers,
    /// Form controls and embedded objects.
    Controls,
    /// Macro projects.
    Macros,
    /// Sheets without cells, and sheets of macros.
    OtherSheets,
    /// Formulas whose result fills several cells; the first cell keeps the formula.
    ArrayFormulas,
    /// Ranges that a what-if table calculates; their values are imported.
    WhatIfTables,
    /// Formulas of xlsb workbooks; their values are imported.
    Formulas,
    /// Formulas that are imported and that Cellar cannot calculate: their syntax is unknown, or they
    /// refer to tables, to other files or to several sheets. Their values are imported too.
    UncalculatedFormulas,
    /// Other workbooks to which formulas refer.
    ExternalLinks,
    /// Connections and queries that fetch data.
    DataConnections,
}

/// Each kind with its name in JSON, its description if there is one, and that of several.
const KINDS: [(Omission, &str, &str, &str); 36] = [
    (StyledCells, "styledCells", "style of {} cell", "styles of {} cells"),
    (
        StyledRowsAndColumns,
        "styledRowsAndColumns",
        "style of {} row or column",
        "styles of {} rows and columns",
    ),
    (FormattedTexts, "formattedTexts", "formatting within {} text", "formatting within {} texts"),
    (PhoneticTexts, "phoneticTexts", "phonetic guide of {} text", "phonetic guides of {} texts"),
    (DateFormats, "dateFormats", "date format of {} cell", "date formats of {} cells"),
    (MergedRanges, "mergedRanges", "{} merged range", "{} merged ranges"),
    (ColumnWidths, "columnWidths", "{} column width", "{} column widths"),
    (RowHeights, "rowHeights", "{} row height", "{} row heights"),
    (HiddenRows, "hiddenRows", "hiding of {} row", "hiding of {} rows"),
    (HiddenColumns, "hiddenColumns", "hiding of {} column", "hiding of {} columns"),
    (HiddenSheets, "hiddenSheets", "hiding of {} sheet", "hiding of {} sheets"),
    (
        GroupedRowsAndColumns,
        "groupedRowsAndColumns",
        "grouping of {} row or column",
        "grouping of {} rows and columns",
    ),
    (FrozenPanes, "frozenPanes", "{} frozen pane", "{} frozen panes"),
    (Links, "links", "{} link", "{} links"),
    (Comments, "comments", "{} comment", "{} comments"),
    (DataValidations, "dataValidations", "{} data validation", "{} data validations"),
    (ConditionalFormats, "conditionalFormats", "{} conditional format", "{} conditional formats"),
    (Filters, "filters", "{} filter", "{} filters"),
    (DefinedNames, "definedNames", "{} defined name", "{} defined names"),
    (
        Protections,
        "protections",
        "protection of {} sheet, range or workbook",
        "protections of {} sheets, ranges or workbooks",
    ),
    (Tables, "tables", "{} table", "{} tables"),
    (PivotTables, "pivotTables", "{} pivot table", "{} pivot tables"),
    (Charts, "charts", "{} chart", "{} charts"),
    (Pictures, "pictures", "{} picture", "{} pictures"),
    (Shapes, "shapes", "{} shape", "{} shapes"),
    (Sparklines, "sparklines", "{} sparkline", "{} sparklines"),
    (Slicers, "slicers", "{} slicer or timeline", "{} slicers and timelines"),
    (Controls, "controls", "{} control or embedded object", "{} controls and embedded objects"),
    (Macros, "macros", "{} macro project", "{} macro projects"),
    (
        OtherSheets,
        "otherSheets",
        "{} chart, dialog or macro sheet",
        "{} chart, dialog or macro sheets",
    ),
    (ArrayFormulas, "arrayFormulas", "range of {} array formula", "ranges of {} array formulas"),
    (WhatIfTables, "whatIfTables", "{} what-if table", "{} what-if tables"),
    (Formulas, "formulas", "{} formula", "{} formulas"),
    (
        UncalculatedFormulas,
        "uncalculatedFormulas",
        "calculation of {} formula",
        "calculation of {} formulas",
    ),
    (ExternalLinks, "externalLinks", "{} link to another workbook", "{} links to other workbooks"),
    (DataConnections, "dataConnections", "{} data connection", "{} data connections"),
];

impl Omission {
    /// Returns the name in JSON, such as `mergedRanges`.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().1
    }

    /// Describes a number of these contents, such as `3 merged ranges`.
    #[must_use]
    pub fn describe(self, count: u64) -> String {
        let (_, _, singular, plural) = self.row();
        (if count == 1 { singular } else { plural }).replace("{}", &grouped(count))
    }

    fn row(self) -> (Self, &'static str, &'static str, &'static str) {
        KINDS.get(self as usize).copied().unwrap_or((self, "", "", ""))
    }
}

/// How many of each kind of contents an import has not taken so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotImported([u64; KINDS.len()]);

impl Default for NotImported {
    fn default() -> Self {
        Self([0; KINDS.len()])
    }
}

impl NotImported {
    /// Whether everything was imported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Iterates over the kinds of which there are any.
    pub fn iter(&self) -> impl Iterator<Item = (Omission, u64)> + '_ {
        let kinds = KINDS.iter().map(|(omission, ..)| *omission);
        kinds.zip(self.0).filter(|(_, count)| *count > 0)
    }

    /// Adds to the number of one kind.
    pub fn add(&mut self, omission: Omission, count: u64) {
        if let Some(total) = self.0.get_mut(omission as usize) {
            *total = total.saturating_add(count);
        }
    }

    /// Adds the number of columns from `first` to `last` to each kind that is noted of them.
    pub(crate) fn add_columns(&mut self, first: u64, last: u64, noted: [(Omission, bool); 4]) {
        let columns = last.saturating_sub(first).saturating_add(1).min(EXCEL_COLUMNS.into());
        for (omission, is_noted) in noted {
            if is_noted {
                self.add(omission, columns);
            }
        }
    }

    /// Adds all numbers of another count.
    pub fn add_all(&mut self, other: &Self) {
        for (omission, count) in other.iter() {
            self.add(omission, count);
        }
    }

    /// Returns what was added since an earlier count.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = *self;
        for (count, earlier_count) in difference.0.iter_mut().zip(earlier.0) {
            *count = count.saturating_sub(earlier_count);
        }
        difference
    }
}

/// Lists the contents, such as `3 merged ranges, 12 links`.
impl fmt::Display for NotImported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phrases: Vec<String> =
            self.iter().map(|(omission, count)| omission.describe(count)).collect();
        formatter.write_str(&phrases.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_what_there_is() {
        for (index, (omission, ..)) in KINDS.iter().enumerate() {
            assert_eq!(*omission as usize, index);
        }
        let mut counts = NotImported::default();
        assert!(counts.is_empty() && counts.to_string().is_empty());
        counts.add(Charts, 1);
        let earlier = counts;
        counts.add(MergedRanges, 3);
        counts.add(HiddenRows, 1_200);
        counts.add(Charts, u64::MAX);
        assert_eq!(counts.since(&earlier).iter().next(), Some((MergedRanges, 3)));
        assert_eq!(
            counts.to_string(),
            "3 merged ranges, hiding of 1,200 rows, 18,446,744,073,709,551,615 charts"
        );
        assert_eq!(Charts.describe(1), "1 chart");
    }
}
