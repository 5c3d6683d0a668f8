//! Tests that read and write real and malformed csv files.

use std::collections::BTreeMap;
use std::io::{self, Read};

use cellar_base::limits::{
    MAX_IMPORT_COLUMNS, MAX_IMPORT_ROW_BYTES, MAX_TEXT_BYTES, MAX_TILE_TEXT_BYTES,
};
use cellar_sheet::cell::{GENERAL, Value, display};

use super::{CsvImport, CsvOptions, CsvRow, CsvWriter, Survey};
use crate::{BlockSize, ColumnKind, Import, ImportStep, ReadError, Source};

mod encodings;
mod properties;

/// Displayed cell texts by row and column.
type Texts = BTreeMap<(u32, u32), String>;

fn commas() -> CsvOptions {
    CsvOptions { delimiter: Some(b','), ..CsvOptions::default() }
}

fn pads_short_rows() -> CsvOptions {
    CsvOptions { pads_short_rows: true, ..commas() }
}

fn import<S: Source>(
    source: S,
    options: &CsvOptions,
) -> Result<(Survey, Texts, Vec<Value>), ReadError> {
    let mut import = CsvImport::open(source, options)?;
    let (mut texts, mut values) = (Texts::new(), Vec::new());
    while let Some(step) = import.next_step()? {
        if step == ImportStep::Restart {
            assert!(options.sample_bytes.is_some());
            (texts, values) = (Texts::new(), Vec::new());
        }
        let ImportStep::Block(block) = step else { continue };
        for cell in block.cells() {
            let text = display(&cell.value, cell.format.unwrap_or(GENERAL));
            assert!(texts.insert((cell.row, cell.column), text).is_none());
            values.push(cell.value);
        }
    }
    assert_eq!(import.progress().done, import.progress().total);
    Ok((import.survey().unwrap().clone(), texts, values))
}

fn texts(text: &str) -> Texts {
    import(text.as_bytes(), &CsvOptions::default()).unwrap().1
}

fn fault(text: &[u8]) -> ReadError {
    import(text, &CsvOptions::default()).map(|_| "no error").unwrap_err()
}

fn places(texts: &Texts) -> Vec<(u32, u32, &str)> {
    texts.iter().map(|((row, column), text)| (*row, *column, text.as_str())).collect()
}

/// Reads the fields with the `csv` crate for comparison.
fn fields(bytes: &[u8]) -> Texts {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut fields = Texts::new();
    for (row, record) in (0..).zip(reader.records()) {
        for (column, field) in (0..).zip(&record.unwrap()) {
            if !field.is_empty() {
                fields.insert((row, column), field.to_owned());
            }
        }
    }
    fields
}

fn data(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

/// A source that returns only a few bytes per read, to exercise every read boundary.
struct Dripping<'a>(&'a [u8], usize);

struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let length = room.len().min(self.1).min(self.0.len());
        let (now, rest) = self.0.split_at(length);
        room[..length].copy_from_slice(now);
        self.0 = rest;
        Ok(length)
    }
}

impl<'a> Source for Dripping<'a> {
    type Stream = Drip<'a>;

    fn open(&self) -> io::Result<Drip<'a>> {
        Ok(Drip(self.0, self.1))
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }
}

#[test]
fn real_files_keep_every_text() {
    for (name, rows, columns) in [
        ("airports.csv", 3_377, 7),
        ("seattle-weather.csv", 1_462, 6),
        ("us-employment.csv", 121, 24),
    ] {
        let bytes = data(name);
        let small = CsvOptions { block: BlockSize { rows: 7, cells: 40 }, ..CsvOptions::default() };
        for options in [CsvOptions::default(), small] {
            let (survey, texts, _) = import(bytes.as_slice(), &options).unwrap();
            assert_eq!((survey.rows, survey.columns), (rows, columns), "{name}");
            assert_eq!(texts, fields(&bytes), "{name}");
            assert_eq!(survey.cells, texts.len() as u64);
        }
    }
}

#[test]
fn the_size_of_the_next_blocks_can_be_changed() {
    let file: String = (0..60).map(|row| format!("{row}\n")).collect();
    for sample_bytes in [None, Some(20)] {
        let options = CsvOptions { sample_bytes, ..CsvOptions::default() };
        let mut import = CsvImport::open(file.as_bytes(), &options).unwrap();
        let (mut next_sizes, mut blocks) = ([10, 25, 1, 100].into_iter(), Vec::new());
        import.set_block_cells(next_sizes.next().unwrap());
        while let Some(step) = import.next_step().unwrap() {
            if let ImportStep::Block(block) = step {
                blocks.push(block.tile.cell_count());
                next_sizes.next().into_iter().for_each(|cells| import.set_block_cells(cells));
            }
        }
        assert_eq!(blocks, [10, 25, 1, 24]);
    }
}

#[test]
fn columns_of_real_files_have_the_right_type() {
    let kinds = |name: &str, options: &CsvOptions| {
        let (survey, _, _) = import(data(name).as_slice(), options).unwrap();
        survey.typings.into_iter().map(|typing| typing.kind).collect::<Vec<_>>()
    };
    let airports = kinds("airports.csv", &CsvOptions::default());
    assert!(airports[..5].iter().all(|kind| *kind == ColumnKind::Text));
    assert!(airports[5..].iter().all(|kind| *kind != ColumnKind::Text));
    let one = || ColumnKind::Decimals { format: "0.0".into() };
    let date = ColumnKind::Date { format: "yyyy/mm/dd".into() };
    let weather = [date, one(), one(), one(), one(), ColumnKind::Text];
    assert_eq!(kinds("seattle-weather.csv", &CsvOptions::default()), weather);
}

#[test]
fn given_types_lose_nothing() {
    let text = "n,m,d,b\n1,1,2020-01-01,TRUE\n007,007,soon,1\n";
    let types = "A=text,B=number,C=date,D=boolean".parse().unwrap();
    let options = CsvOptions { types, ..CsvOptions::default() };
    let (_, shown, values) = import(text.as_bytes(), &options).unwrap();
    assert_eq!(shown, fields(text.as_bytes()));
    let text = |text: &str| Value::Text(text.into());
    let expected = [
        text("1"),
        Value::Number(1.0),
        Value::Number(43_831.0),
        Value::Bool(true),
        text("007"),
        text("007"),
        text("soon"),
        text("1"),
    ];
    assert_eq!(values[4..], expected);
}

#[test]
fn fields_have_their_place_whatever_the_line_ends() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["a,\"b", "c\"", ",d", "", "e,f", ""].join(end);
        let multi_line = format!("b{end}c");
        let expected = [(0, 0, "a"), (0, 1, &multi_line), (1, 1, "d"), (2, 0, "e"), (2, 1, "f")];
        assert_eq!(places(&texts(&text)), expected);
        for drip in 1..5 {
            let found = import(Dripping(text.as_bytes(), drip), &CsvOptions::default()).unwrap();
            assert_eq!(places(&found.1), expected);
        }
    }
}

#[test]
fn a_blank_line_is_an_empty_row_only_where_rows_have_one_field() {
    for end in ["\n", "\r\n", "\r"] {
        let rows = |lines: &[&str]| {
            let text = lines.join(end);
            let (survey, texts, _) = import(text.as_bytes(), &CsvOptions::default()).unwrap();
            (survey.rows, texts.into_keys().map(|(row, _)| row).collect::<Vec<_>>())
        };
        assert_eq!(rows(&["a", "", "", "b", "", ""]), (4, vec![0, 3]));
        assert_eq!(rows(&["", "", "a", "b", ""]), (4, vec![2, 3]));
        assert_eq!(rows(&["", "", "a,1", "b,2"]), (2, vec![0, 0, 1, 1]));
        assert_eq!(rows(&["a,1", "", "b,2"]).0, 2);
        assert_eq!(rows(&["a", "\"\"", "b"]), (3, vec![0, 2]));
    }
}

#[test]
fn a_heading_below_blank_lines_is_one() {
    let (_, _, values) = import(&b"\n\nprice\n5\n"[..], &CsvOptions::default()).unwrap();
    assert_eq!(values, [Value::Text("price".into()), Value::Number(5.0)]);
}

#[test]
fn a_byte_order_mark_is_no_text_and_other_encodings_are_named() {
    assert_eq!(texts("\u{feff}ä\n")[&(0, 0)], "ä");
    for (bytes, at) in [
        (&b"a\nb\ncaf\xe9\n"[..], (3, 7)),
        (b"\xef\xbb\xbf\xe9", (1, 3)),
        (b"ok\ntruncated \xc3", (2, 13)),
        (b"a\n\"x\n\xff\"\n", (3, 5)),
    ] {
        let ReadError::NotUtf8 { line, byte } = fault(bytes) else { panic!("{bytes:?}") };
        assert_eq!((line, byte), at);
    }
    assert!(matches!(fault(b"PK\x03\x04..."), ReadError::Workbook));
}

#[test]
fn quotes_that_do_not_match_are_found_where_they_are() {
    for text in ["a,\"b\nc,d\n", "a,\"b\nc,d", "a,\"", "a,\"\"\""] {
        let ReadError::UnclosedQuote { line, column } = fault(text.as_bytes()) else {
            panic!("{text}")
        };
        assert_eq!((line, column), (1, 2), "{text}");
    }
    for (text, at) in [("\"a\"b,c", (1, 1)), ("a,\"b\nc,\"d\"\n", (2, 2)), ("\"a\" ,b", (1, 1))] {
        let ReadError::TextAfterQuote { line, column } = fault(text.as_bytes()) else {
            panic!("{text}")
        };
        assert_eq!((line, column), at, "{text}");
    }
    assert_eq!(texts("5\" pipe,a\"b\"\n")[&(0, 1)], "a\"b\"");
    assert_eq!(texts("\"say \"\"hello\"\"\",a\"\"b\n\"\"\"\",x")[&(0, 0)], "say \"hello\"");
}

#[test]
fn ragged_rows_are_an_error_unless_they_are_padded() {
    let text = b"a,b\n\nc\nd,e,f\n";
    let ReadError::Ragged { line, fields, expected } = fault(text) else { panic!("not ragged") };
    assert_eq!((line, fields, expected), (3, 1, 2));
    let (survey, _, _) = import(&text[..], &pads_short_rows()).unwrap();
    assert_eq!((survey.rows, survey.columns), (3, 3));
}

#[test]
fn a_file_without_anything_is_an_error() {
    for text in ["", "\n", "\r\n\r\n", "\r", ",,\n,,\n", "\"\"\n"] {
        assert!(matches!(fault(text.as_bytes()), ReadError::Empty), "{text:?}");
    }
    for delimiter in [b'"', b'\n', b'\r', 0x80] {
        let options = CsvOptions { delimiter: Some(delimiter), ..CsvOptions::default() };
        assert!(matches!(import(&b"a"[..], &options), Err(ReadError::Delimiter)));
    }
}

#[test]
fn limits_hold_at_n_and_n_plus_1() {
    let longest = "x".repeat(MAX_TEXT_BYTES);
    for text in [
        longest.clone(),
        format!("\"{longest}\"\n"),
        format!("\"{}\"", "\"\"".repeat(MAX_TEXT_BYTES)),
    ] {
        assert_eq!(texts(&text)[&(0, 0)].len(), MAX_TEXT_BYTES);
    }
    for text in [format!("a,b\nc,{longest}x\n"), format!("a,b\nc,\"{longest}x\"\n")] {
        let ReadError::TextTooLong { line, column } = fault(text.as_bytes()) else {
            panic!("not too long")
        };
        assert_eq!((line, column), (2, 2));
    }
    let widest = ",".repeat(MAX_IMPORT_COLUMNS as usize - 1);
    assert_eq!(texts(&format!("{widest}1\n")).len(), 1);
    for end in ["\n", "\r", ""] {
        assert!(matches!(
            fault(format!("{widest},1{end}").as_bytes()),
            ReadError::TooManyColumns { line: 1 }
        ));
    }
    let row = format!("{},", "x".repeat(65_535)).repeat(MAX_IMPORT_ROW_BYTES / 65_536);
    assert_eq!(
        texts(&format!("{}\n", row.trim_end_matches(','))).len(),
        MAX_IMPORT_ROW_BYTES / 65_536
    );
    for end in ["\n", "x", "x,y\n"] {
        let error = fault(format!("{row}{end}").as_bytes());
        assert!(matches!(error, ReadError::RowTooLong { line: 1 }), "{end:?}");
    }
}

#[test]
fn long_texts_come_whole() {
    let long = "ä".repeat(MAX_TILE_TEXT_BYTES);
    let shown = texts(&format!("x,{long}\ny,z\n"));
    assert_eq!(shown[&(0, 1)], long);
}

/// A source that repeats the same bytes forever, and fails if too many bytes are read.
struct Endless {
    start: &'static [u8],
    again: &'static [u8],
    bytes: usize,
}

impl Source for Endless {
    type Stream = io::Chain<&'static [u8], Repeated>;

    fn open(&self) -> io::Result<Self::Stream> {
        Ok(self.start.chain(Repeated { again: self.again, left: self.bytes }))
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

struct Repeated {
    again: &'static [u8],
    left: usize,
}

impl Read for Repeated {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let steps = room.chunks_exact_mut(self.again.len());
        let bytes = steps.map(|step| step.copy_from_slice(self.again)).count() * self.again.len();
        self.left = self.left.checked_sub(bytes).ok_or_else(|| io::Error::other("too far"))?;
        Ok(bytes)
    }
}

/// An endless field or row must be rejected soon after the limit.
#[test]
fn an_endless_field_or_row_is_refused_early() {
    for start in [&b"a,b\nc,"[..], b"a,b\nc,\""] {
        let source = Endless { start, again: b"x", bytes: 2 << 20 };
        let ReadError::TextTooLong { line, column } =
            import(source, &pads_short_rows()).unwrap_err()
        else {
            panic!("not too long")
        };
        assert_eq!((line, column), (2, 2));
    }
    let field: &[u8] = &[b'x'; 1 << 10];
    let again = [field, b","].concat().leak();
    let source = Endless { start: b"a\n", again, bytes: MAX_IMPORT_ROW_BYTES + (1 << 20) };
    let error = import(source, &pads_short_rows()).unwrap_err();
    assert!(matches!(error, ReadError::RowTooLong { line: 2 }), "{error}");
}

#[test]
fn a_file_that_changes_meanwhile_is_refused() {
    struct Changing(std::cell::Cell<bool>);
    impl Source for Changing {
        type Stream = &'static [u8];
        fn open(&self) -> io::Result<&'static [u8]> {
            Ok(if self.0.replace(true) { b"a,b\n1,2\n3,4\n" } else { b"a,b\n1,2\n" })
        }
        fn bytes(&self) -> io::Result<u64> {
            Ok(8)
        }
    }
    assert!(matches!(import(Changing(false.into()), &pads_short_rows()), Err(ReadError::Changed)));
}

/// Returns the number of import restarts with a sample of `sample_bytes` bytes.
fn restarts(text: &str, sample_bytes: u64) -> usize {
    let options = CsvOptions { sample_bytes: Some(sample_bytes), ..CsvOptions::default() };
    let mut import = CsvImport::open(text.as_bytes(), &options).unwrap();
    let steps = std::iter::from_fn(|| import.next_step().unwrap());
    let restarts = steps.filter(|step| *step == ImportStep::Restart).count();
    assert_eq!(
        self::import(text.as_bytes(), &options).unwrap(),
        self::import(text.as_bytes(), &CsvOptions::default()).unwrap()
    );
    restarts
}

#[test]
fn one_pass_is_enough_unless_a_column_is_not_what_it_seemed_to_be() {
    let rows = |cell: &str| format!("{cell},x\n").repeat(40);
    for (seems, then, restarted) in [
        ("1", "7,y\n", 0),
        ("1", "1.5,y\n", 0),
        ("1", "1.50,y\n", 1),
        ("1", "x,y\n", 1),
        ("1.5", "2,y\n", 0),
        ("x", "1,1\n", 0),
        ("2012-01-01", "2012/01/01,y\n", 1),
        ("TRUE", "1,y\n", 1),
        ("", "1,y\n", 1),
        ("", "x,y\n", 0),
    ] {
        let text = ["n,t\n", &rows(seems), then, &rows(seems)].concat();
        assert_eq!(restarts(&text, 40), restarted, "{seems} {then}");
        assert_eq!(restarts(&text, 1 << 20), 0, "all of it was looked at before");
    }
}

#[test]
fn given_types_need_no_sample() {
    let types = "A=number,B=text".parse().unwrap();
    let options = CsvOptions { sample_bytes: Some(0), types, ..CsvOptions::default() };
    let mut import = CsvImport::open(&b"n,1\n1,2\n1.50,x\n"[..], &options).unwrap();
    while let Some(step) = import.next_step().unwrap() {
        assert_ne!(step, ImportStep::Restart);
    }
}

#[test]
fn rows_that_only_later_become_longer_are_read() {
    let options = CsvOptions { sample_bytes: Some(6), ..pads_short_rows() };
    for (text, cells) in [("1\n2\n3\n4,x\n5,y\n", 7), ("1\n2\n3\n4,8\n5,9,,z\n", 8)] {
        let (survey, texts, values) = import(text.as_bytes(), &options).unwrap();
        assert_eq!((texts.len(), survey.cells), (cells, cells as u64));
        assert_eq!((survey, texts, values), import(text.as_bytes(), &pads_short_rows()).unwrap());
    }
}

#[test]
fn a_survey_can_be_stopped() {
    let text = "1,2\n".repeat(1 << 20);
    let mut import = CsvImport::open(text.as_bytes(), &CsvOptions::default()).unwrap();
    assert_eq!(import.next_step().unwrap(), Some(ImportStep::Working));
    let progress = import.progress();
    assert!(progress.done > 0 && progress.done < progress.total / 4, "{progress:?}");
}

fn written(rows: &[Vec<String>]) -> Vec<u8> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut writer = CsvWriter::new(Vec::new(), b',', u32::try_from(columns).unwrap());
    let mut encoded_row = CsvRow::new(b',');
    for (row, texts) in (0..).zip(rows) {
        encoded_row.start(row);
        for (column, text) in (0..).zip(texts) {
            encoded_row.push_field(column, text).unwrap();
        }
        writer.write_row(row, encoded_row.field_count(), encoded_row.encoded()).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn a_first_cell_may_look_like_the_mark_of_another_file() {
    for text in ["\u{feff}a", "PK\u{3}\u{4}", "\u{feff}"] {
        let bytes = written(&[vec![text.to_owned(), "b".to_owned()]]);
        assert_eq!(import(bytes.as_slice(), &pads_short_rows()).unwrap().1[&(0, 0)], text);
    }
    let blank = written(&[vec!["a".into()], vec![String::new()], vec!["b".into()]]);
    assert_eq!(import(blank.as_slice(), &pads_short_rows()).unwrap().0.rows, 3);
}

#[test]
fn rows_and_fields_that_are_skipped_are_blank() {
    let mut writer = CsvWriter::new(Vec::new(), b';', 3);
    let mut row = CsvRow::new(b';');
    let mut write = |writer: &mut CsvWriter<Vec<u8>>, number, column| {
        row.start(number);
        row.push_field(column, "x").unwrap();
        assert!(row.push_field(column, "again").is_err());
        writer.write_row(row.row(), row.field_count(), row.encoded())
    };
    write(&mut writer, 1, 1).unwrap();
    assert!(write(&mut writer, 1, 2).is_err(), "the row is already written");
    assert!(write(&mut writer, 2, 3).is_err(), "a field too many");
    write(&mut writer, 3, 0).unwrap();
    write(&mut writer, 4, 2).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    assert_eq!(text, ";;\n;x;\n;;\nx;;\n;;x\n");
}

#[test]
fn fields_are_quoted_only_where_necessary() {
    let mut row = CsvRow::new(b';');
    for (column, text) in
        (0..).zip(["a", "b;c", "d,e", "f\tg", "h|i", "j\"k", "l\nm", "n\ro", " ", "é"])
    {
        row.push_field(column, text).unwrap();
    }
    let text = String::from_utf8(row.encoded().to_vec()).unwrap();
    assert_eq!(text, "a;\"b;c\";\"d,e\";\"f\tg\";\"h|i\";\"j\"\"k\";\"l\nm\";\"n\ro\"; ;é");
}
