//! The whole import, decided before anything is sent.

use std::collections::BTreeMap;

use cellar_core::a1::CellName;
use cellar_core::cell::{GENERAL, Value};
use cellar_core::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_core::operation::CellEdit;

use super::read::{Field, Fields};
use super::typing::ColumnTyping;
use super::{ImportError, batches, encoding, read};

/// How a file is to be read, and where its cells go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// What separates fields: an ASCII character.
    pub delimiter: u8,
    /// Keep everything as text.
    pub text: bool,
    /// Accept rows with different numbers of fields.
    pub pad: bool,
    /// Where the top left field goes.
    pub at: CellName,
    /// The cells may have been there before: formats that are left over are removed.
    pub into_existing: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            text: false,
            pad: false,
            at: CellName { row: 0, column: 0 },
            into_existing: false,
        }
    }
}

/// What an import does: its cells, cut into mutations.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Rows of the file.
    pub rows: u32,
    /// Columns of the file.
    pub columns: u32,
    /// Cells that are not empty.
    pub cells: usize,
    /// How each column that has any cells is typed, by its number in the file, from 0.
    pub columns_typed: BTreeMap<u32, ColumnTyping>,
    /// The cells of each mutation, in order.
    pub batches: Vec<Vec<CellEdit>>,
}

impl Plan {
    /// Plans the import of a file's bytes.
    ///
    /// # Errors
    /// [`ImportError`] with the line and what to do; nothing has been sent then.
    pub fn new(bytes: &[u8], options: &ImportOptions) -> Result<Self, ImportError> {
        let text = encoding::text(bytes)?;
        let fields = read::read(text, options.delimiter, options.pad)?;
        let ends = |first: u32, count: u32| u64::from(first) + u64::from(count);
        if ends(options.at.row, fields.rows) > u64::from(MAX_ROWS)
            || ends(options.at.column, fields.columns) > u64::from(MAX_COLUMNS)
        {
            return Err(ImportError::OutsideSheet);
        }
        let columns_typed = if options.text { BTreeMap::new() } else { type_columns(&fields) };
        let edit = |field: &Field| {
            let typing = columns_typed.get(&field.column).unwrap_or(&ColumnTyping::TEXT);
            cell_edit(field, typing, field.row == fields.first_row(), options)
        };
        let edits: Vec<CellEdit> = fields.fields.iter().map(edit).collect();
        let batches = batches::cut(edits).map_err(|fault| {
            let field = fields.fields.get(fault.index);
            let (line, column) = field.map_or((0, 0), |f| (f.line, u64::from(f.column) + 1));
            ImportError::EncodedTooLong { line, column, bytes: fault.bytes }
        })?;
        let (rows, columns, cells) = (fields.rows, fields.columns, fields.fields.len());
        Ok(Self { rows, columns, cells, columns_typed, batches })
    }

    /// A question about the delimiter, if the file came out as one column and most of its lines
    /// hold something else that separates fields: it is no error, only likely to be a slip.
    #[must_use]
    pub fn delimiter_hint(&self, bytes: &[u8], delimiter: u8) -> Option<String> {
        if self.columns != 1 {
            return None;
        }
        let lines =
            || bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let half = lines().count() / 2;
        let others = [(b';', "semicolon"), (b'\t', "tab")].into_iter();
        let with = |other: u8| lines().filter(|line| line.contains(&other)).count();
        others
            .filter(|(other, _)| *other != delimiter)
            .map(|(other, name)| (with(other), name))
            .filter(|(lines, _)| *lines > half)
            .max_by_key(|(lines, _)| *lines)
            .map(|(_, name)| format!("one column: is `--delimiter {name}` right?"))
    }

    /// A hash of everything that will be sent, for the journal.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 import plan");
        for batch in &self.batches {
            // Plain data always encodes.
            let json = serde_json::to_vec(batch).unwrap_or_default();
            hasher.update(&u64::try_from(json.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(&json);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// How many cells the first `batches` mutations have.
    #[must_use]
    pub fn cells_in(&self, batches: usize) -> usize {
        self.batches.iter().take(batches).map(Vec::len).sum()
    }
}

fn type_columns(fields: &Fields) -> BTreeMap<u32, ColumnTyping> {
    let mut columns: BTreeMap<u32, (Option<&str>, Vec<&str>)> = BTreeMap::new();
    for field in &fields.fields {
        let column = columns.entry(field.column).or_default();
        if field.row == fields.first_row() {
            column.0 = Some(&field.text);
        } else {
            column.1.push(&field.text);
        }
    }
    let typed = |(column, (first, others)): (u32, (Option<&str>, Vec<&str>))| {
        (column, ColumnTyping::of(first, &others))
    };
    columns.into_iter().map(typed).collect()
}

fn cell_edit(
    field: &Field,
    typing: &ColumnTyping,
    in_first_row: bool,
    options: &ImportOptions,
) -> CellEdit {
    let typed = typing.cell(&field.text, in_first_row);
    // A format that an earlier number left would show this one differently.
    let needs_general = options.into_existing && matches!(typed.value, Value::Number(_));
    let format = typed.format.or_else(|| needs_general.then(|| GENERAL.to_owned()));
    CellEdit {
        row: options.at.row.saturating_add(field.row),
        column: options.at.column.saturating_add(field.column),
        value: Some(typed.value),
        formula: None,
        format,
    }
}

#[cfg(test)]
mod tests {
    use cellar_core::cell::display;
    use proptest::prelude::*;

    use super::super::typing::ColumnKind;
    use super::*;

    fn data(name: &str) -> Vec<u8> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/");
        std::fs::read(format!("{folder}{name}")).unwrap()
    }

    fn texts(plan: &Plan) -> BTreeMap<(u32, u32), String> {
        let text = |edit: &CellEdit| {
            let value = edit.value.as_ref().unwrap();
            let format = edit.format.as_deref().unwrap_or(GENERAL);
            ((edit.row, edit.column), display(value, format))
        };
        plan.batches.iter().flatten().map(text).collect()
    }

    fn fields(bytes: &[u8]) -> BTreeMap<(u32, u32), String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
        let mut fields = BTreeMap::new();
        for (row, record) in (0..).zip(reader.records()) {
            for (column, field) in (0..).zip(&record.unwrap()) {
                if !field.is_empty() {
                    fields.insert((row, column), field.to_owned());
                }
            }
        }
        fields
    }

    fn kinds(plan: &Plan) -> Vec<ColumnKind> {
        plan.columns_typed.values().map(|typing| typing.kind.clone()).collect()
    }

    #[test]
    fn real_files_keep_every_text() {
        for (name, rows, columns) in [
            ("airports.csv", 3_377, 7),
            ("seattle-weather.csv", 1_462, 6),
            ("us-employment.csv", 121, 24),
        ] {
            let bytes = data(name);
            let plan = Plan::new(&bytes, &ImportOptions::default()).unwrap();
            assert_eq!((plan.rows, plan.columns), (rows, columns), "{name}");
            assert_eq!(texts(&plan), fields(&bytes), "{name}");
            assert_eq!(plan.cells, plan.cells_in(plan.batches.len()));
        }
    }

    #[test]
    fn columns_of_real_files_have_the_right_type() {
        use ColumnKind::{Decimals, General, Text};
        let airports = Plan::new(&data("airports.csv"), &ImportOptions::default()).unwrap();
        let kinds_of_airports = kinds(&airports);
        assert_eq!(kinds_of_airports[..5], [Text, Text, Text, Text, Text]);
        for kind in &kinds_of_airports[5..] {
            let number = matches!(kind, General | ColumnKind::MixedNumbers | Decimals { .. });
            assert!(number, "{kind:?}");
        }
        let weather = Plan::new(&data("seattle-weather.csv"), &ImportOptions::default()).unwrap();
        let one = || Decimals { format: "0.0".into() };
        let date = ColumnKind::Date { format: "yyyy/mm/dd".into() };
        assert_eq!(kinds(&weather), [date, one(), one(), one(), one(), Text]);
        let as_text = ImportOptions { text: true, ..ImportOptions::default() };
        let plan = Plan::new(&data("seattle-weather.csv"), &as_text).unwrap();
        let all_text = |edit: &CellEdit| matches!(edit.value, Some(Value::Text(_)));
        assert!(plan.batches.iter().flatten().all(all_text));
    }

    #[test]
    fn cells_go_where_they_are_to_and_must_fit_there() {
        let at = |at: &str| ImportOptions {
            at: at.parse().unwrap(),
            into_existing: true,
            ..ImportOptions::default()
        };
        let plan = Plan::new(b"n\n5\n", &at("B2")).unwrap();
        let edits = plan.batches.concat();
        assert_eq!((edits[1].row, edits[1].column), (2, 1));
        assert_eq!(edits[1].format.as_deref(), Some(GENERAL));
        assert_eq!(edits[0].format, None);
        let last = CellName { row: MAX_ROWS - 2, column: MAX_COLUMNS - 1 };
        assert!(Plan::new(b"n\n5\n", &at(&last.to_string())).is_ok());
        let below = CellName { row: MAX_ROWS - 1, column: 0 };
        let outside = Plan::new(b"n\n5\n", &at(&below.to_string()));
        assert!(matches!(outside, Err(ImportError::OutsideSheet)));
    }

    #[test]
    fn a_heading_below_blank_lines_is_one() {
        let plan = Plan::new(b"\n\nprice\n5\n", &ImportOptions::default()).unwrap();
        let edits = plan.batches.concat();
        assert_eq!(
            (edits[0].row, edits[0].value.as_ref()),
            (2, Some(&Value::Text("price".into())))
        );
        assert_eq!((edits[1].row, edits[1].value.as_ref()), (3, Some(&Value::Number(5.0))));
    }

    #[test]
    fn one_column_that_looks_like_more_asks_for_the_delimiter() {
        let hint = |text: &str, delimiter: u8| {
            let options = ImportOptions { delimiter, pad: true, ..ImportOptions::default() };
            let plan = Plan::new(text.as_bytes(), &options).unwrap();
            plan.delimiter_hint(text.as_bytes(), delimiter)
        };
        let asks = |text, delimiter, name: &str| {
            assert!(hint(text, delimiter).unwrap().contains(&format!("`--delimiter {name}`")));
        };
        asks("a;b\n1;2\n\n", b',', "semicolon");
        asks("a\tb\r\n1\t2\r\nnote\r\n", b',', "tab");
        asks("a;b\n1;2\n", b'\t', "semicolon");
        for (text, delimiter) in [("a;b\n1;2\n", b';'), ("a\nb;c\n", b','), ("a,b;c\n", b',')] {
            assert_eq!(hint(text, delimiter), None, "{text}");
        }
    }

    #[test]
    fn a_fingerprint_is_of_what_is_sent() {
        let fingerprint =
            |text: &[u8]| Plan::new(text, &ImportOptions::default()).unwrap().fingerprint();
        assert_eq!(fingerprint(b"a,b\n"), fingerprint(b"a,b\r\n"));
        assert_ne!(fingerprint(b"a,b\n"), fingerprint(b"a,c\n"));
    }

    #[test]
    fn control_characters_are_named_with_their_place() {
        let text = format!("a\nb,\"{}\"\n", "\u{1}".repeat(60_000)).replace("a\n", "a,c\n");
        let error = Plan::new(text.as_bytes(), &ImportOptions::default()).unwrap_err();
        assert!(matches!(error, ImportError::EncodedTooLong { line: 2, column: 2, .. }));
    }

    proptest! {
        #[test]
        fn no_input_panics_and_every_accepted_text_is_kept(
            text in "([a-z0-9.,\"\n\r;\t-]|TRUE|2020-01-01){0,60}|\\PC{0,40}",
            pad: bool,
        ) {
            let options = ImportOptions { pad, ..ImportOptions::default() };
            if let Ok(plan) = Plan::new(text.as_bytes(), &options) {
                prop_assert_eq!(texts(&plan).len(), plan.cells);
                prop_assert!(texts(&plan).values().all(|shown| !shown.is_empty()));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Plan::new(&bytes, &ImportOptions::default());
        }

        #[test]
        fn what_a_csv_writer_writes_is_read_back(
            rows in (1..4_usize).prop_flat_map(|columns| proptest::collection::vec(
                proptest::collection::vec("[a-z0-9\", \n\r]{0,6}|[0-9]\\.[0-9]", columns), 1..6)),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let expected: BTreeMap<(u32, u32), String> = (0..)
                .zip(&rows)
                .flat_map(|(r, row)| (0..).zip(row).map(move |(c, text)| ((r, c), text.clone())))
                .filter(|(_, text)| !text.is_empty())
                .collect();
            match Plan::new(&bytes, &ImportOptions::default()) {
                Ok(plan) => prop_assert_eq!(texts(&plan), expected),
                Err(error) => prop_assert!(
                    matches!(error, ImportError::Empty) && expected.is_empty(), "{}", error),
            }
        }
    }
}
