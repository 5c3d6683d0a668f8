//! Tests of xlsx: round trips, and files of other programs.

use std::io::{Cursor, Read as _};

use cellar_base::limits::{
    MAX_IMPORT_COLUMNS, MAX_ROWS, MAX_SHARED_FORMULA_BYTES, MAX_SHEETS, MAX_TEXT_BYTES,
    MAX_WORKBOOK_STYLES,
};
use cellar_exchange::{CellToWrite, Spill, WriteError, XlsxWriter};
use cellar_sheet::a1::CellName;
use proptest::prelude::*;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};

use super::*;

const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const WORKBOOK: &str = "<workbook xmlns:r=\"r\"><sheets><sheet name=\"A &amp; B\" sheetId=\"1\" r:id=\"s1\"/></sheets></workbook>";
const TEXTS: &str = "<sst uniqueCount=\"2\"><si><t>plain</t></si><si><r><t xml:space=\"preserve\">ri</t></r><rPh sb=\"0\" eb=\"1\"><t>no</t></rPh><r><t>ch&#33;_x000D_</t></r></si></sst>";
const STYLES: &str = "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"0.0&quot; kg&quot;\"/></numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/></cellXfs><dxfs><dxf><numFmt numFmtId=\"164\" formatCode=\"x\"/></dxf></dxfs></styleSheet>";

/// The parts of a workbook of one sheet.
pub(super) struct Parts<'a> {
    pub(super) workbook: &'a str,
    pub(super) texts: &'a str,
    pub(super) styles: &'a str,
    /// The part with the metadata of cells, unless it is empty.
    pub(super) metadata: &'a str,
    /// XML before the rows.
    pub(super) head: &'a str,
    pub(super) rows: &'a str,
}

impl Default for Parts<'_> {
    fn default() -> Self {
        let head = "<dimension ref=\"A1:B2\"/>";
        Self { workbook: WORKBOOK, texts: TEXTS, styles: STYLES, metadata: "", head, rows: "" }
    }
}

impl Parts<'_> {
    pub(super) fn packed(&self) -> Vec<u8> {
        let Self { workbook, texts, styles, metadata, head, rows } = self;
        let relation = |id: &str, kind: &str, target: &str| {
            format!("<Relationship Id=\"{id}\" Type=\"{TYPES}/{kind}\" Target=\"{target}\"/>")
        };
        let relations = |all: &str| format!("<Relationships>{all}</Relationships>");
        let package = relations(&relation("r1", "officeDocument", "/xl/workbook.xml"));
        let targets = relations(
            &[
                relation("s1", "worksheet", "worksheets/sheet1.xml"),
                relation("s2", "sharedStrings", "../xl/sharedStrings.xml"),
                relation("s3", "styles", "styles.xml"),
                if metadata.is_empty() {
                    String::new()
                } else {
                    relation("s4", "sheetMetadata", "metadata.xml")
                },
            ]
            .concat(),
        );
        let sheet = format!(
            "<?xml version=\"1.0\"?><worksheet>{head}<sheetData>{rows}</sheetData></worksheet>"
        );
        archive(&[
            ("_rels/.rels", package.as_bytes()),
            ("xl/workbook.xml", workbook.as_bytes()),
            ("xl/_rels/workbook.xml.rels", targets.as_bytes()),
            ("xl/sharedStrings.xml", texts.as_bytes()),
            ("xl/styles.xml", styles.as_bytes()),
            ("xl/metadata.xml", metadata.as_bytes()),
            ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ])
    }
}

/// Returns a workbook of one sheet with the rows.
pub(super) fn with_rows(rows: &str) -> Vec<u8> {
    Parts { rows, ..Parts::default() }.packed()
}

fn rows_of(bytes: &[u8]) -> Cells {
    read(bytes).unwrap().remove(0).1
}

#[test]
fn everything_that_excel_writes_in_a_cell() {
    let cells = rows_of(&with_rows(
        "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c t=\"s\"><v>1</v></c>\
         <c r=\"D1\" t=\"inlineStr\"><is><t>in &amp; line</t></is></c><c r=\"E1\" s=\"1\"/></row>\
         <row><c s=\"1\"><v>40909.5</v></c><c r=\"B2\" s=\"2\"><v>1E-1</v></c><c t=\"b\"><v>1</v></c>\
         <c t=\"e\"><v>#DIV/0!</v></c><c t=\"e\"><v>#NEW!</v></c><c t=\"d\"><v>2012-01-01T12:00:00</v></c></row>\
         <row r=\"9\"><c r=\"A9\"><f t=\"shared\" ref=\"A9:A10\" si=\"7\">B9*2</f><v>4</v></c>\
         <c><f>\"x\"&amp;1</f><v></v></c><c t=\"str\"><f>C1</f><v>a_x000D_b</v></c><c><v>many</v></c></row>\
         <row r=\"10\"><c r=\"A10\"><f t=\"shared\" si=\"7\"/><v>6</v></c><c t=\"e\"><f>#N/A</f><v>#N/A</v></c>\
         <c><f>_xlfn._xlws.SORT(A1:A2,_xlfn.XOR(\"_x005F_x000A_\"))</f></c></row>",
    ));
    let formula = |value: Cell, formula: &str| Cell { formula: Some(formula.into()), ..value };
    let expected = BTreeMap::from([
        ((0, 0), text("plain")),
        ((0, 1), text("rich!\r")),
        ((0, 3), text("in & line")),
        ((0, 4), Cell { format: Some("yyyy-mm-dd".into()), ..Cell::default() }),
        ((1, 0), number(40_909.5, "yyyy-mm-dd")),
        ((1, 1), number(0.1, "0.0\" kg\"")),
        ((1, 2), cell(Value::Bool(true))),
        ((1, 3), error(ErrorCode::Div0)),
        ((1, 4), text("#NEW!")),
        ((1, 5), number(40_909.5, "yyyy-mm-dd hh:mm:ss")),
        ((8, 0), formula(number(4.0, ""), "=B9*2")),
        ((8, 1), formula(Cell::default(), "=\"x\"&1")),
        ((8, 2), formula(text("a\rb"), "=C1")),
        ((8, 3), text("many")),
        ((9, 0), formula(number(6.0, ""), "=B10*2")),
        ((9, 1), formula(error(ErrorCode::NotAvailable), "=#N/A")),
        ((9, 2), formula(Cell::default(), "=@SORT(A1:A2,XOR(\"_x000A_\"))")),
    ]);
    assert_eq!(cells, expected);
}

#[test]
fn days_may_be_counted_from_1904() {
    let workbook = WORKBOOK.replace("<sheets>", "<workbookPr date1904=\"1\"/><sheets>");
    let rows = "<row><c s=\"1\"><v>39447</v></c><c><v>39447</v></c></row>";
    let cells = rows_of(&Parts { workbook: &workbook, rows, ..Parts::default() }.packed());
    assert_eq!(cells[&(0, 0)], number(40_909.0, "yyyy-mm-dd"));
    assert_eq!(cells[&(0, 1)], number(39_447.0, ""));
}

#[test]
fn cells_are_where_a_sheet_has_them() {
    let at = |cells: &str| with_rows(&format!("<row>{cells}</row>"));
    let named = |name: &str| at(&format!("<c r=\"{name}\"><v>1</v></c>"));
    let behind = CellName { row: 0, column: MAX_IMPORT_COLUMNS }.to_string();
    let last = CellName { row: MAX_ROWS - 1, column: MAX_IMPORT_COLUMNS - 1 };
    assert!(rows_of(&named(&last.to_string())).contains_key(&(last.row, last.column)));
    for name in
        [behind.as_str(), "A1073741825", "A0", "A", "1", "", "A1B", "Ä1", "A99999999999", "A+1"]
    {
        let error = workbook_fault(&named(name));
        assert!(matches!(error, WorkbookError::NoSuchCell { .. }), "{name}: {error}");
    }
    assert!(matches!(
        workbook_fault(&with_rows("<row r=\"0\"></row>")),
        WorkbookError::NoSuchCell { .. }
    ));
    for second in ["A1", "A2"] {
        let cells = format!("<c r=\"A2\"><v>1</v></c><c r=\"{second}\"><v>1</v></c>");
        assert!(matches!(workbook_fault(&at(&cells)), WorkbookError::OutOfOrder { .. }));
    }
}

#[test]
fn limits_of_texts_hold_at_n_and_n_plus_1() {
    let inline = |bytes: usize| {
        let text = "x".repeat(bytes);
        with_rows(&format!("<row><c t=\"inlineStr\"><is><t>{text}</t></is></c></row>"))
    };
    assert_eq!(rows_of(&inline(MAX_TEXT_BYTES))[&(0, 0)], text(&"x".repeat(MAX_TEXT_BYTES)));
    assert!(matches!(
        workbook_fault(&inline(MAX_TEXT_BYTES + 1)),
        WorkbookError::TextTooLong { cell, .. } if cell == "A1"
    ));
    let formula = |bytes: usize| {
        let text = "x".repeat(bytes);
        with_rows(&format!("<row><c><f>{text}</f><v>1</v></c></row>"))
    };
    let longest = cellar_base::limits::MAX_FORMULA_BYTES - 1;
    assert!(rows_of(&formula(longest))[&(0, 0)].formula.is_some());
    assert!(matches!(workbook_fault(&formula(longest + 1)), WorkbookError::FormulaTooLong { .. }));
}

#[test]
fn sheets_styles_and_shared_formulas_are_counted() {
    let sheets = |count: usize| {
        let sheets = "<sheet name=\"S\" r:id=\"s1\"/>".repeat(count);
        let workbook = format!("<workbook xmlns:r=\"r\"><sheets>{sheets}</sheets></workbook>");
        read_in(&Parts { workbook: &workbook, ..Parts::default() }.packed(), BlockSize::default())
    };
    assert_eq!(sheets(MAX_SHEETS).unwrap().len(), MAX_SHEETS);
    assert!(matches!(
        sheets(MAX_SHEETS + 1),
        Err(ReadError::InWorkbook(WorkbookError::TooManySheets))
    ));
    let styles = |count: usize| {
        let styles = "<xf/>".repeat(count);
        let styles = format!("<styleSheet><cellXfs>{styles}</cellXfs></styleSheet>");
        read_in(&Parts { styles: &styles, ..Parts::default() }.packed(), BlockSize::default())
    };
    assert!(styles(MAX_WORKBOOK_STYLES).is_ok());
    assert!(matches!(
        styles(MAX_WORKBOOK_STYLES + 1),
        Err(ReadError::InWorkbook(WorkbookError::TooManyStyles))
    ));
    let formulas = |last: usize| {
        let formula = |bytes: usize, number: usize| {
            let text = "x".repeat(bytes);
            format!("<row><c><f t=\"shared\" si=\"{number}\">{text}</f><v>1</v></c></row>")
        };
        let full = MAX_SHARED_FORMULA_BYTES / 8_000;
        let mut rows: String = (0..full).map(|number| formula(8_000, number)).collect();
        rows.push_str(&formula(MAX_SHARED_FORMULA_BYTES % 8_000 + last, full));
        read_in(&with_rows(&rows), BlockSize::default())
    };
    assert!(formulas(0).is_ok());
    assert!(matches!(formulas(1), Err(ReadError::InWorkbook(WorkbookError::TooManyStyles))));
}

#[test]
fn rows_with_too_much_text_are_refused() {
    let row = |cells: usize| {
        let text = "x".repeat(MAX_TEXT_BYTES);
        let cells = format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>").repeat(cells);
        read_in(&with_rows(&format!("<row>{cells}</row>")), BlockSize::default())
    };
    let most = cellar_base::limits::MAX_IMPORT_ROW_BYTES / MAX_TEXT_BYTES;
    assert_eq!(row(most).unwrap()[0].1.len(), most);
    assert!(matches!(
        row(most + 1),
        Err(ReadError::InWorkbook(WorkbookError::RowTooLong { row: 1, .. }))
    ));
}

/// Returns a workbook of `rust_xlsxwriter` with features that `XlsxWriter` does not use.
pub(super) fn by_the_library() -> Vec<u8> {
    let mut workbook = Workbook::new();
    let format = |code: &str| Format::new().set_num_format(code);
    let sheet = workbook.add_worksheet().set_name("Prices ä").unwrap();
    sheet.write_string(0, 0, "übung \u{1F600} <&>\u{1}").unwrap();
    sheet.write_number(0, 1, 2.5).unwrap();
    sheet.write_number_with_format(0, 2, 0.25, &format("0.0%")).unwrap();
    let day = ExcelDateTime::from_ymd(2026, 11, 21).unwrap();
    sheet.write_datetime_with_format(1, 0, &day, &format("d mmm yyyy")).unwrap();
    let moment = day.and_hms(6, 0, 0).unwrap();
    sheet.write_datetime_with_format(1, 1, &moment, &format("yyyy-mm-dd hh:mm:ss")).unwrap();
    sheet.write_boolean(1, 2, true).unwrap();
    sheet.write_formula(2, 0, Formula::new("=B1*2").set_result("5")).unwrap();
    sheet.write_formula(2, 1, Formula::new("=1/0").set_result("#DIV/0!")).unwrap();
    sheet.merge_range(4, 0, 5, 1, "merged", &Format::new()).unwrap();
    workbook.add_worksheet().set_name("Empty").unwrap().set_hidden(true);
    let last = workbook.add_worksheet().set_name("Far").unwrap();
    last.write_string(1_048_575, 16_383, "corner").unwrap();
    workbook.save_to_buffer().unwrap()
}

#[test]
fn a_workbook_of_the_library() {
    let sheets = read(&by_the_library()).unwrap();
    let starts: Vec<_> =
        sheets.iter().map(|(start, _)| (start.name.as_deref().unwrap(), start.hidden)).collect();
    assert_eq!(starts, [("Prices ä", false), ("Empty", true), ("Far", false)]);
    let formula = |value: Cell, formula: &str| Cell { formula: Some(formula.into()), ..value };
    let expected = BTreeMap::from([
        ((0, 0), text("übung \u{1F600} <&>\u{1}")),
        ((0, 1), number(2.5, "")),
        ((0, 2), number(0.25, "0.0%")),
        ((1, 0), number(46_347.0, "d mmm yyyy")),
        ((1, 1), number(46_347.25, "yyyy-mm-dd hh:mm:ss")),
        ((1, 2), cell(Value::Bool(true))),
        ((2, 0), formula(number(5.0, ""), "=B1*2")),
        ((2, 1), formula(error(ErrorCode::Div0), "=1/0")),
        ((4, 0), text("merged")),
    ]);
    assert_eq!(sheets[0].1, expected);
    assert!(sheets[1].1.is_empty());
    assert_eq!(sheets[2].1, BTreeMap::from([((1_048_575, 16_383), text("corner"))]));
}

pub(super) fn written(sheets: &[(&str, Cells)]) -> Result<Vec<u8>, WriteError> {
    let mut writer = XlsxWriter::new(None)?;
    for (name, cells) in sheets {
        writer.start_sheet(name)?;
        for ((row, column), cell) in cells {
            let Cell { value, formula, format } = cell;
            let cell = CellToWrite {
                value,
                formula: formula.as_deref(),
                format: format.as_deref(),
                spill: Spill::None,
            };
            writer.write_cell(*row, *column, &cell)?;
        }
    }
    let mut target = Cursor::new(Vec::new());
    writer.finish(&mut target)?;
    Ok(target.into_inner())
}

/// Returns the XML of the cells of the first sheet.
pub(super) fn sheet_xml(bytes: &[u8]) -> String {
    let mut xml = String::new();
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    zip.by_name("xl/worksheets/sheet1.xml").unwrap().read_to_string(&mut xml).unwrap();
    let (_, rows) = xml.split_once("<sheetData>").unwrap();
    rows.split_once("</sheetData>").unwrap().0.to_owned()
}

#[test]
fn each_cell_has_the_type_that_excel_gives_it() {
    let formula = |value: Cell, formula: &str| Cell { formula: Some(formula.into()), ..value };
    for (cell, xml) in [
        (error(ErrorCode::NotAvailable), "<c r=\"A1\" t=\"e\"><v>#N/A</v></c>"),
        (number(1e300, ""), "<c r=\"A1\"><v>1e+300</v></c>"),
        (number(45_366.0, "0"), "<c r=\"A1\" s=\"1\"><v>45366</v></c>"),
        (cell(Value::Bool(true)), "<c r=\"A1\" t=\"b\"><v>1</v></c>"),
        (
            text(" _x000d_"),
            "<c r=\"A1\" t=\"inlineStr\"><is><t xml:space=\"preserve\"> _x005F_x000d_</t></is></c>",
        ),
        (
            formula(error(ErrorCode::NotAvailable), "=#N/A"),
            "<c r=\"A1\" t=\"e\"><f>#N/A</f><v>#N/A</v></c>",
        ),
        (formula(text("TRUE"), "=A2"), "<c r=\"A1\" t=\"str\"><f>A2</f><v>TRUE</v></c>"),
        (formula(text("#N/A"), "=A2"), "<c r=\"A1\" t=\"str\"><f>A2</f><v>#N/A</v></c>"),
        (
            formula(number(45_366.0, ""), "=A2<5&\"_x000A_\""),
            "<c r=\"A1\"><f>A2&lt;5&amp;&quot;_x005F_x000A_&quot;</f><v>45366</v></c>",
        ),
        (
            formula(number(5.0, ""), "=XLOOKUP(1,A:A,B:B)"),
            "<c r=\"A1\" cm=\"1\"><f t=\"array\" ref=\"A1\">_xlfn.XLOOKUP(1,A:A,B:B)</f><v>5</v></c>",
        ),
    ] {
        let cells = BTreeMap::from([((0, 0), cell)]);
        let bytes = written(&[("s", cells.clone())]).unwrap();
        assert_eq!(sheet_xml(&bytes), format!("<row r=\"1\">{xml}</row>"));
        assert_eq!(read(&bytes).unwrap()[0].1, cells);
    }
}

#[test]
fn results_of_formulas_keep_their_type() {
    let texts = [
        "TRUE", "FALSE", "45366", "1e5", "-0.5", "inf", "#N/A", "#SPILL!", " x ", "_x000D_", "\r",
        "=",
    ];
    let values = texts.map(|text| Value::Text(text.into())).into_iter().chain([
        Value::Number(45_366.0),
        Value::Bool(true),
        Value::Error(ErrorCode::Div0),
        Value::Empty,
    ]);
    let cells: Cells = (0..)
        .zip(values)
        .map(|(row, value)| ((row, 0), Cell { formula: Some("=B1".into()), ..cell(value) }))
        .collect();
    let bytes = written(&[("s", cells.clone())]).unwrap();
    assert_eq!(read(&bytes).unwrap()[0].1, cells);
}

#[test]
fn names_with_escape_sequences_are_kept() {
    let bytes = written(&[("_x0041_ <&>\"", BTreeMap::new())]).unwrap();
    assert_eq!(read(&bytes).unwrap()[0].0.name.as_deref(), Some("_x0041_ <&>\""));
}

#[test]
fn what_is_written_is_read_back() {
    let formula = |value: Cell, formula: &str| Cell { formula: Some(formula.into()), ..value };
    let first = BTreeMap::from([
        ((0, 0), text("ä\u{1}\r\n _x000D_ <&>\"' ")),
        ((0, 2), number(-0.1, "")),
        ((0, 3), number(12.5, "#,##0.00 \"kg\"")),
        ((2, 0), number(46_347.25, "yyyy-mm-ddThh:mm:ss")),
        ((2, 1), number(46_347.0, "yyyy-mm-dd")),
        ((2, 2), Cell { format: Some("0.00".into()), ..Cell::default() }),
        ((3, 0), cell(Value::Bool(false))),
        ((3, 1), error(ErrorCode::NotAvailable)),
        ((3, 2), error(ErrorCode::GettingData)),
        ((3, 3), Cell { format: Some("0.0".into()), ..error(ErrorCode::Null) }),
        ((4, 0), formula(number(5.0, "0.0"), "=A1+1")),
        ((4, 1), formula(text("words"), "=A1&\"x\"")),
        ((4, 2), formula(cell(Value::Bool(true)), "=1=1")),
        ((4, 3), formula(error(ErrorCode::Ref), "=#REF!+1")),
        ((4, 4), formula(Cell::default(), "=IF(1,\"\")")),
        ((1_048_575, 16_383), text("corner")),
    ]);
    let second = BTreeMap::from([((0, 0), number(1.0, ""))]);
    let bytes =
        written(&[("a/b", first.clone()), ("Empty", BTreeMap::new()), ("A_B", second.clone())]);
    let sheets = read(&bytes.unwrap()).unwrap();
    let names: Vec<_> = sheets.iter().map(|(start, _)| start.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["a_b", "Empty", "A_B (2)"]);
    for (place, cell) in &first {
        assert_eq!(sheets[0].1.get(place), Some(cell), "{place:?}");
    }
    assert_eq!(sheets[0].1.len(), first.len());
    assert_eq!(sheets[2].1, second);
}

#[test]
fn what_excel_does_not_have_is_near_or_refused() {
    let newer =
        BTreeMap::from([((0, 0), error(ErrorCode::Spill)), ((0, 1), number(1.0, "pieces"))]);
    let sheets = read(&written(&[("s", newer)]).unwrap()).unwrap();
    assert_eq!(sheets[0].1, BTreeMap::from([((0, 0), text("#SPILL!")), ((0, 1), number(1.0, ""))]));
    let one = |row, column, cell| written(&[("s", BTreeMap::from([((row, column), cell)]))]);
    assert!(matches!(
        one(1_048_576, 0, number(1.0, "")),
        Err(WriteError::OutsideExcel { row: 1_048_577, .. })
    ));
    assert!(matches!(
        one(0, 16_384, number(1.0, "")),
        Err(WriteError::OutsideExcel { column: 16_385, .. })
    ));
    assert!(one(0, 0, text(&"x".repeat(32_767))).is_ok());
    assert!(matches!(
        one(0, 0, text(&"x".repeat(32_768))),
        Err(WriteError::TextTooLong { characters: 32_768, .. })
    ));
    let mut writer = XlsxWriter::new(None).unwrap();
    let cell =
        CellToWrite { value: &Value::Bool(true), formula: None, format: None, spill: Spill::None };
    assert!(matches!(writer.write_cell(0, 0, &cell), Err(WriteError::OutOfOrder)));
    writer.start_sheet("s").unwrap();
    writer.write_cell(1, 1, &cell).unwrap();
    for (row, column) in [(1, 1), (1, 0), (0, 5)] {
        assert!(matches!(writer.write_cell(row, column, &cell), Err(WriteError::OutOfOrder)));
    }
    assert_eq!(read(&written(&[]).unwrap()).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cells_are_written_and_read_back(
        cells in proptest::collection::btree_map((0..9_u32, 0..9_u32), prop_oneof![
            "\\PC{1,20}|[\u{1}-\u{20}]{1,5}|(_x[0-9A-Fa-f]{4}|_|\r){1,4}".prop_map(|shown| text(&shown)),
            ("\\PC{1,20}|_x000D_|TRUE|[0-9]{1,5}", "=[A-Z]{1,3}[1-9]|=\"(_x[0-9A-Fa-f]{4}_)?\"")
                .prop_map(|(shown, formula)| Cell { formula: Some(formula), ..text(&shown) }),
            proptest::num::f64::NORMAL.prop_map(|value| number(value, "")),
            (0..60_000_u32).prop_map(|value| number(value.into(), "yyyy/mm/dd")),
            any::<bool>().prop_map(|value| cell(Value::Bool(value))),
        ], 0..20),
    ) {
        let sheets = read(&written(&[("s", cells.clone())]).unwrap()).unwrap();
        prop_assert_eq!(&sheets[0].1, &cells);
    }
}
