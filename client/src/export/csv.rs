//! Exports one sheet as CSV.

use std::io::Write;
use std::path::Path;

use cellar_base::limits::MAX_READ_BEGINNINGS;
use cellar_base::position::Position;
use cellar_exchange::CsvWriter;
use cellar_sheet::operation::SheetId;

use super::rows::{CellCounts, EncodedRows, RowEncoder};
use super::spool::{RowSpool, SpooledRow};
use super::{
    ExportError, Exported, ExportedSheet, is_object_missing, max_blank_fields, write_error,
    write_output_file,
};
use crate::reader::{Reader, SheetPart, StoredBand};
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

/// The cells of a sheet at one position, in memory or in a temporary file.
#[derive(Debug)]
pub struct CsvExport {
    spool: RowSpool,
    style: CsvStyle,
    source: ExportSource,
}

/// The exported sheet and its position.
#[derive(Debug)]
struct ExportSource {
    sheet: SheetId,
    name: String,
    position: Position,
    incarnation: u32,
}

/// Reads all cells of a sheet at one position, in memory or in a temporary file. `query` selects the
/// sheet. `report_progress` is called with the number of cells read so far.
///
/// The cells are read from the chunks of the snapshot, unless they are a range. If an earlier position
/// cannot be read from chunks, the server reads it.
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
    if let Some(at) = query.at.filter(|_| query.selects_whole_sheet())
        && let Some(mut reader) = Reader::open_whole_at(spreadsheet, at).await?
    {
        let sheet = query.sheet.as_deref();
        let export = Box::pin(read_chunks(&mut reader, sheet, style, &mut report_progress)).await;
        if !is_object_missing(&export) {
            return export;
        }
    }
    if query.at.is_none() && query.selects_whole_sheet() {
        return fetch_chunks(spreadsheet, query, style, report_progress).await;
    }
    fetch_csv_pages(spreadsheet, query, style, report_progress).await
}

/// Reads all cells of a sheet like [`fetch_csv`], but always from the server.
///
/// # Errors
///
/// Returns an [`ExportError`] if a request fails or the temporary file cannot be written.
pub async fn fetch_csv_pages(
    spreadsheet: &Spreadsheet,
    query: CellsQuery,
    style: CsvStyle,
    mut report_progress: impl FnMut(u64),
) -> Result<CsvExport, ExportError> {
    let (mut spool, mut encoder) = (RowSpool::new(), RowEncoder::new(style));
    let mut pages = spreadsheet.cell_pages(query);
    let mut source = None;
    while let Some(page) = pages.try_next().await? {
        encoder.push_displayed(&page.cells)?;
        spool.append(&encoder.take_complete_rows())?;
        report_progress(spool.counts().cells);
        let (position, incarnation) = (page.position, page.incarnation);
        source = Some(ExportSource { sheet: page.sheet, name: page.name, position, incarnation });
    }
    spool.append(&encoder.finish())?;
    let source = source.ok_or(ExportError::Pages { why: "the response has no pages" })?;
    Ok(CsvExport { spool, style, source })
}

async fn fetch_chunks(
    spreadsheet: &Spreadsheet,
    query: CellsQuery,
    style: CsvStyle,
    mut report_progress: impl FnMut(u64),
) -> Result<CsvExport, ExportError> {
    let mut reader = Reader::open_whole(spreadsheet, query.min_position).await?;
    let sheet = query.sheet.as_deref();
    let mut beginnings_left = MAX_READ_BEGINNINGS;
    loop {
        // The future is large, so that it is not part of those of the callers.
        let export = Box::pin(read_chunks(&mut reader, sheet, style, &mut report_progress)).await;
        if !is_object_missing(&export) || !reader.begin_again(&mut beginnings_left).await? {
            return export;
        }
    }
}

async fn read_chunks(
    reader: &mut Reader,
    sheet_name: Option<&str>,
    style: CsvStyle,
    mut report_progress: impl FnMut(u64),
) -> Result<CsvExport, ExportError> {
    let mut spool = RowSpool::new();
    let store = |part: SheetPart<Result<EncodedRows, ExportError>>| {
        let rows = match part {
            SheetPart::Encoded(rows) => rows?,
            SheetPart::Displayed(cells) => {
                let mut encoder = RowEncoder::new(style);
                encoder.push_displayed(&cells)?;
                encoder.finish()
            }
        };
        spool.append(&rows)?;
        report_progress(spool.counts().cells);
        Ok::<(), ExportError>(())
    };
    let encode = move |band: &StoredBand<'_>| RowEncoder::encode_band(style, band);
    let read = reader.read_sheet(sheet_name, encode, store).await?;
    let (position, incarnation) = (reader.position(), reader.incarnation());
    let source = ExportSource { sheet: read.sheet, name: read.name, position, incarnation };
    Ok(CsvExport { spool, style, source })
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

impl CsvExport {
    /// Writes the CSV file to a stream, such as standard output.
    ///
    /// # Errors
    ///
    /// Returns an [`ExportError`] if writing fails or the file would have too many blank fields.
    pub fn write_to(self, target: impl Write) -> Result<Exported, ExportError> {
        self.write(target, Path::new("the output"))
    }

    /// Writes a file with [`crate::user_file::write_user_file`].
    ///
    /// # Errors
    ///
    /// Returns [`ExportError::Exists`] if the file exists and `force` is not set,
    /// [`ExportError::Unwritable`] if the file cannot be written, or
    /// [`ExportError::TooManyBlankFields`].
    pub fn write_file(self, path: &Path, force: bool) -> Result<Exported, ExportError> {
        write_output_file(path, force, |file| self.write(file, path))
    }

    fn write(self, target: impl Write, path: &Path) -> Result<Exported, ExportError> {
        let Self { spool, style, source } = self;
        let counts = *spool.counts();
        let CellCounts { rows, columns, .. } = counts;
        check_blank_fields(&counts)?;
        let field_count = u32::try_from(columns).unwrap_or(u32::MAX);
        let mut writer = CsvWriter::new(target, style.delimiter, field_count);
        spool.for_each_row(|SpooledRow { row, field_count, csv }| {
            writer.write_row(*row, *field_count, csv).map_err(|error| write_error(path, error))
        })?;
        let finish_result = writer.finish().and_then(|mut target| Ok(target.flush()?));
        finish_result.map_err(|error| write_error(path, error))?;
        let ExportSource { sheet, name, position, incarnation } = source;
        let sheets = vec![ExportedSheet {
            sheet,
            name,
            rows,
            columns,
            cells: counts.cells,
            formulas: counts.formulas,
            stale_formulas: counts.stale_formulas,
            formula_like_texts: counts.formula_like_texts,
        }];
        Ok(Exported { position, incarnation, sheets, names: 0, omitted_names: 0 })
    }
}

/// Fails if the file would have too many blank fields.
fn check_blank_fields(counts: &CellCounts) -> Result<(), ExportError> {
    let CellCounts { rows, columns, cells, .. } = *counts;
    let blank_fields = rows.saturating_mul(columns).saturating_sub(cells);
    if blank_fields > max_blank_fields(cells) {
        return Err(ExportError::TooManyBlankFields { rows, columns, cells });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::CellAt;
    use cellar_exchange::{CsvImport, CsvOptions, Import as _, ImportStep};
    use cellar_sheet::cell::{Cell, Value};

    use super::*;
    use crate::export::{EXPORT_BLANK_FIELDS_PER_CELL, EXPORT_MAX_BLANK_FIELDS};

    fn text(row: u32, column: u32, text: &str) -> CellAt {
        let value = if text.is_empty() { Value::Empty } else { Value::Text(text.into()) };
        CellAt::new(row, column, Cell { value, ..Cell::default() })
    }

    fn fetched_in(style: CsvStyle, pages: Vec<Vec<CellAt>>) -> Result<CsvExport, ExportError> {
        let (mut spool, mut encoder) = (RowSpool::new(), RowEncoder::new(style));
        for cells in pages {
            encoder.push_displayed(&cells)?;
            spool.append(&encoder.take_complete_rows())?;
        }
        spool.append(&encoder.finish())?;
        let (sheet, name) = (SheetId::FIRST, "Sheet1".to_owned());
        let source = ExportSource { sheet, name, position: Position::FIRST, incarnation: 1 };
        Ok(CsvExport { spool, style, source })
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
        assert!(matches!(error, ExportError::TooManyBlankFields { .. }));
        assert!(written.is_empty());
    }

    #[test]
    fn blank_fields_are_limited_at_n_and_n_plus_1_and_cells_are_not() {
        let check = |rows, columns, cells| {
            check_blank_fields(&CellCounts { rows, columns, cells, ..CellCounts::default() })
        };
        let one_cell = 1 + EXPORT_MAX_BLANK_FIELDS + EXPORT_BLANK_FIELDS_PER_CELL;
        assert!(check(one_cell, 1, 1).is_ok());
        let error = check(one_cell + 1, 1, 1).unwrap_err();
        let message = "the file would have more than 200,000,010 blank fields: \
                       1 cell in 200,000,012 rows and 1 column";
        assert_eq!(error.to_string(), message);
        // The limit grows with the cells.
        let cells = 1_000_000_000;
        let rows = EXPORT_MAX_BLANK_FIELDS + cells * (1 + EXPORT_BLANK_FIELDS_PER_CELL);
        assert!(check(rows, 1, cells).is_ok());
        assert!(check(rows + 1, 1, cells).is_err());
        assert!(check(1 << 30, 1 << 20, 1 << 50).is_ok());
        assert!(check(1 << 30, 1 << 22, 1).is_err());
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
