//! Exports one sheet as CSV.

use std::io::Write;
use std::path::Path;

use cellar_api::wire::{CellAt, CellsReply};
use cellar_exchange::{CellToWrite, CsvWriter, Spill};
use cellar_sheet::cell::{Cell, Value};

use super::spool::RowSpool;
use super::{
    EXPORT_MAX_FIELDS, ExportError, Exported, ExportedSheet, temporary_file_error, write_error,
    write_output_file,
};
use crate::{CellsQuery, Spreadsheet};

/// Options for writing CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CsvStyle {
    /// Field delimiter; must be an ASCII character.
    pub delimiter: u8,
    /// Whether to write a cell's formula instead of its result.
    pub formulas: bool,
    /// Whether to add the prefix `'` to texts that other programs may interpret as formulas.
    pub escape_formulas: bool,
}

impl Default for CsvStyle {
    fn default() -> Self {
        Self { delimiter: b',', formulas: false, escape_formulas: false }
    }
}

/// The cells of a sheet at one position, stored in a temporary file.
#[derive(Debug)]
pub struct CsvExport {
    spool: RowSpool,
    style: CsvStyle,
    warning_counts: WarningCounts,
    /// The cells were removed, but the page still describes the sheet and the position.
    last_page: CellsReply,
}

/// Reads all cells of a sheet at one position and stores them in a temporary file. `query` selects
/// the sheet. `report_progress` is called with the number of cells read so far.
///
/// # Errors
///
/// Returns an [`ExportError`] if a request fails or the temporary file cannot be written.
pub async fn fetch_csv(
    spreadsheet: &Spreadsheet,
    query: CellsQuery,
    style: CsvStyle,
    mut report_progress: impl FnMut(u64),
) -> Result<CsvExport, ExportError> {
    let mut spool = RowSpool::new().map_err(temporary_file_error)?;
    let mut warning_counts = WarningCounts::default();
    let mut pages = spreadsheet.cell_pages(query);
    let mut last_page = None;
    while let Some(mut page) = pages.try_next().await? {
        add_page(&mut spool, &mut warning_counts, &page, style)?;
        report_progress(spool.cell_count());
        page.cells.clear();
        last_page = Some(page);
    }
    let Some(last_page) = last_page else {
        return Err(ExportError::Pages { why: "the response has no pages" });
    };
    Ok(CsvExport { spool, style, warning_counts, last_page })
}

impl Spreadsheet {
    /// Exports the first sheet to a new CSV file. To export another sheet or position, or to
    /// another format, use [`fetch_csv`] or [`super::fetch_xlsx`].
    ///
    /// # Errors
    ///
    /// Returns [`ExportError::Exists`] if the file exists, or another [`ExportError`] if a request
    /// fails or the file cannot be written.
    pub async fn export_csv(&self, path: impl AsRef<Path>) -> Result<Exported, ExportError> {
        let export = fetch_csv(self, CellsQuery::default(), CsvStyle::default(), |_| {}).await?;
        let replace = false;
        export.write_file(path.as_ref(), replace)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct WarningCounts {
    formulas: u64,
    stale_formulas: u64,
    formula_like_texts: u64,
}

/// Texts that start with one of these characters are interpreted as formulas by some programs.
const FORMULA_PREFIXES: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

fn add_page(
    spool: &mut RowSpool,
    warning_counts: &mut WarningCounts,
    page: &CellsReply,
    style: CsvStyle,
) -> Result<(), ExportError> {
    for CellAt { row, column, cell, stale, .. } in &page.cells {
        if cell.formula.is_some() {
            warning_counts.formulas += 1;
        }
        warning_counts.stale_formulas += u64::from(*stale && !style.formulas);
        let field = Field::of_cell(cell, style);
        if field.is_formula_like {
            warning_counts.formula_like_texts += 1;
        }
        spool.add_cell(*row, *column, field.text)?;
    }
    Ok(())
}

struct Field {
    text: String,
    is_formula_like: bool,
}

impl Field {
    fn of_cell(cell: &Cell, style: CsvStyle) -> Self {
        if style.formulas
            && let Some(formula) = &cell.formula
        {
            return Self { text: formula.clone(), is_formula_like: false };
        }
        let text = cell.text();
        let is_formula_like =
            matches!(cell.value, Value::Text(_)) && text.starts_with(FORMULA_PREFIXES);
        if is_formula_like && style.escape_formulas {
            return Self { text: format!("'{text}"), is_formula_like: false };
        }
        Self { text, is_formula_like }
    }
}

impl CsvExport {
    /// Writes the CSV file to a stream, such as standard output.
    ///
    /// # Errors
    ///
    /// Returns an [`ExportError`] if writing fails or the file would have too many fields.
    pub fn write_to(self, target: impl Write) -> Result<Exported, ExportError> {
        self.write(target, Path::new("the output"))
    }

    /// Writes a file with [`crate::user_file::write_user_file`].
    ///
    /// # Errors
    ///
    /// Returns [`ExportError::Exists`] if the file exists and `force` is not set,
    /// [`ExportError::Unwritable`] if the file cannot be written, or
    /// [`ExportError::TooManyFields`].
    pub fn write_file(self, path: &Path, force: bool) -> Result<Exported, ExportError> {
        write_output_file(path, force, |file| self.write(file, path))
    }

    fn write(self, target: impl Write, path: &Path) -> Result<Exported, ExportError> {
        let Self { spool, style, warning_counts, last_page } = self;
        let (rows, columns, cells) = (spool.row_count(), spool.column_count(), spool.cell_count());
        if rows.saturating_mul(columns) > EXPORT_MAX_FIELDS {
            return Err(ExportError::TooManyFields { rows, columns });
        }
        let fields_per_row = u32::try_from(columns).unwrap_or(u32::MAX);
        // The temporary file contains only texts. Formulas were already converted by
        // `Field::of_cell`.
        let write_formulas = false;
        let mut writer = CsvWriter::new(target, style.delimiter, fields_per_row, write_formulas);
        write_rows(&mut writer, spool, path)?;
        let finish_result = writer.finish().and_then(|mut target| Ok(target.flush()?));
        finish_result.map_err(|error| write_error(path, error))?;
        let CellsReply { sheet, name, position, incarnation, .. } = last_page;
        let WarningCounts { formulas, stale_formulas, formula_like_texts } = warning_counts;
        let sheets = vec![ExportedSheet {
            sheet,
            name,
            rows,
            columns,
            cells,
            formulas,
            stale_formulas,
            formula_like_texts,
        }];
        Ok(Exported { position, incarnation, sheets, names: 0, omitted_names: 0 })
    }
}

fn write_rows<W: Write>(
    writer: &mut CsvWriter<W>,
    spool: RowSpool,
    path: &Path,
) -> Result<(), ExportError> {
    for row_result in spool.into_rows().map_err(temporary_file_error)? {
        let row = row_result.map_err(temporary_file_error)?;
        for (column, text) in row.fields {
            let value = Value::Text(text);
            let cell =
                CellToWrite { value: &value, formula: None, format: None, spill: Spill::None };
            writer.write_cell(row.row, column, &cell).map_err(|error| write_error(path, error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cellar_base::position::Position;
    use cellar_exchange::{CsvImport, CsvOptions, Import as _, ImportStep};
    use cellar_sheet::metadata::Extent;
    use cellar_sheet::operation::SheetId;

    use super::*;

    fn page(cells: Vec<CellAt>) -> CellsReply {
        CellsReply {
            sheet: SheetId::FIRST,
            name: "Sheet1".into(),
            position: Position::FIRST,
            incarnation: 1,
            extent: Extent::default(),
            formats: Vec::new(),
            formats_truncated: false,
            cells,
            next: None,
        }
    }

    fn text(row: u32, column: u32, text: &str) -> CellAt {
        let value = if text.is_empty() { Value::Empty } else { Value::Text(text.into()) };
        CellAt::new(row, column, Cell { value, ..Cell::default() })
    }

    fn fetched_in(style: CsvStyle, pages: Vec<Vec<CellAt>>) -> Result<CsvExport, ExportError> {
        let (mut spool, mut warning_counts) = (RowSpool::new().unwrap(), WarningCounts::default());
        for cells in pages {
            add_page(&mut spool, &mut warning_counts, &page(cells), style)?;
        }
        Ok(CsvExport { spool, style, warning_counts, last_page: page(Vec::new()) })
    }

    fn fetched(pages: Vec<Vec<CellAt>>) -> Result<CsvExport, ExportError> {
        fetched_in(CsvStyle::default(), pages)
    }

    fn csv(pages: Vec<Vec<CellAt>>) -> String {
        let mut written = Vec::new();
        fetched(pages).unwrap().write_to(&mut written).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn pages_become_padded_rows_and_blank_ends_are_dropped() {
        let pages = vec![
            vec![text(0, 1, "a, \"b\""), text(2, 0, "c")],
            vec![text(2, 2, "d"), text(2, 5, ""), text(9, 0, "")],
        ];
        assert_eq!(csv(pages), ",\"a, \"\"b\"\"\",\n,,\nc,,d\n");
        assert_eq!(csv(vec![]), "");
        assert_eq!(csv(vec![vec![text(1, 0, "below a blank row")]]), "\"\"\nbelow a blank row\n");
    }

    #[test]
    fn texts_that_look_like_formulas_are_counted_or_escaped() {
        let texts = ["=1+1", "+a", "-b", "@c", "\td", "\re", "a=1", "'=", " =1"];
        let mut cells: Vec<_> = (0..).zip(texts).map(|(row, it)| text(row, 0, it)).collect();
        let number = Cell { value: Value::Number(-5.0), ..Cell::default() };
        cells.push(CellAt::new(20, 0, number));
        let written = |escape_formulas| {
            let style = CsvStyle { escape_formulas, ..CsvStyle::default() };
            let mut written = Vec::new();
            let export = fetched_in(style, vec![cells.clone()]).unwrap();
            let exported = export.write_to(&mut written).unwrap();
            (String::from_utf8(written).unwrap(), exported.sheets[0].formula_like_texts)
        };
        let (faithful, counted) = written(false);
        assert!(faithful.starts_with("=1+1\n+a\n-b\n@c\n") && counted == 6, "{faithful}");
        let (escaped, counted) = written(true);
        assert!(escaped.starts_with("'=1+1\n'+a\n'-b\n'@c\n\"'\td\"\n"), "{escaped}");
        assert!(escaped.ends_with("\n-5\n") && escaped.contains("\na=1\n'=\n =1\n"), "{escaped}");
        assert_eq!(counted, 0);
    }

    #[test]
    fn pages_out_of_order_are_an_error() {
        for second in [text(0, 0, "again"), text(0, 1, "b")] {
            let pages = vec![vec![text(0, 1, "a")], vec![second]];
            assert!(matches!(fetched(pages), Err(ExportError::Pages { .. })));
        }
    }

    #[test]
    fn a_remote_cell_does_not_fill_the_disk() {
        let mut written = Vec::new();
        let far = vec![vec![text(1 << 29, 1 << 21, "far")]];
        let error = fetched(far).unwrap().write_to(&mut written).unwrap_err();
        assert!(matches!(error, ExportError::TooManyFields { .. }));
        assert!(written.is_empty());
    }

    #[test]
    fn a_file_is_replaced_only_with_force_and_atomically() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let write = |content: &str, force| {
            fetched(vec![vec![text(0, 0, content)]]).unwrap().write_file(&path, force)
        };
        write("one", false).unwrap();
        assert!(matches!(write("two", false), Err(ExportError::Exists { .. })));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n");
        write("two", true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        let far = fetched(vec![vec![text(1 << 29, 1 << 21, "far")]]).unwrap();
        assert!(far.write_file(&path, true).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writes_formulas_with_any_delimiter() {
        let cell = Cell {
            value: Value::Number(5.0),
            formula: Some("=A1+4".into()),
            format: Some("0.00".into()),
        };
        let cells = vec![text(0, 0, "1;2"), CellAt::new(0, 1, cell)];
        let written = |style| {
            let mut written = Vec::new();
            fetched_in(style, vec![cells.clone()]).unwrap().write_to(&mut written).unwrap();
            String::from_utf8(written).unwrap()
        };
        assert_eq!(written(CsvStyle::default()), "\"1;2\",5.00\n");
        assert_eq!(
            written(CsvStyle { delimiter: b';', formulas: true, ..CsvStyle::default() }),
            "\"1;2\";=A1+4\n"
        );
    }

    #[test]
    fn real_files_are_exported_unchanged() {
        for name in ["airports.csv", "seattle-weather.csv", "us-employment.csv"] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/");
            let original = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
            let options = CsvOptions::default();
            let mut file = CsvImport::open(original.as_bytes(), &options).unwrap();
            let mut pages = Vec::new();
            while let Some(piece) = file.next_step().unwrap() {
                let ImportStep::Block(block) = piece else { continue };
                let cells = block.cells().map(|found| {
                    let format = found.format.map(str::to_owned);
                    let cell = Cell { value: found.value, formula: None, format };
                    CellAt::new(found.row, found.column, cell)
                });
                pages.push(cells.collect());
            }
            let exported = csv(pages);
            let records = |text: &str| -> Vec<::csv::StringRecord> {
                let mut reader =
                    ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
                reader.records().map(Result::unwrap).collect()
            };
            assert_eq!(records(&exported), records(&original), "{name}");
            // The export omits unnecessary quotes.
            let same = exported == original.replace("\r\n", "\n");
            assert!(same || original.contains('"'), "{name}");
        }
    }
}
