//! Tests of formulas whose result fills several cells.

use std::time::{Duration, Instant};

use cellar_base::limits::MAX_WORKBOOK_STYLES;
use cellar_exchange::{CellToWrite, Spill, XlsxWriter};
use cellar_sheet::a1::CellName;
use rust_xlsxwriter::{Formula, Workbook};

use super::xlsx::{Parts, sheet_xml, with_rows, written};
use super::*;

/// Metadata with two records, of which the second marks a dynamic array.
const METADATA: &str = "<metadata><metadataTypes count=\"2\"><metadataType name=\"XLRICHVALUE\"/><metadataType name=\"XLDAPR\"/></metadataTypes>\
    <futureMetadata name=\"XLRICHVALUE\"><bk/></futureMetadata>\
    <futureMetadata name=\"XLDAPR\"><bk><extLst><ext><x:dynamicArrayProperties fDynamic=\"0\"/></ext></extLst></bk>\
    <bk><extLst><ext><x:dynamicArrayProperties fDynamic=\"1\"/></ext></extLst></bk></futureMetadata>\
    <cellMetadata><bk><rc t=\"1\" v=\"0\"/></bk><bk><rc t=\"2\" v=\"1\"/></bk><bk><rc t=\"2\" v=\"0\"/></bk><bk><rc t=\"2\" v=\"9\"/></bk></cellMetadata></metadata>";

fn import(metadata: &str, rows: &str) -> Cells {
    let bytes = Parts { metadata, rows, ..Parts::default() }.packed();
    read(&bytes).unwrap().remove(0).1
}

fn formulas(cells: &Cells) -> Vec<&str> {
    cells.values().filter_map(|cell| cell.formula.as_deref()).collect()
}

fn formula(value: f64, formula: &str) -> Cell {
    Cell { formula: Some(formula.into()), ..number(value, "") }
}

fn not_imported(bytes: &[u8]) -> String {
    let mut import = WorkbookImport::open(bytes, BlockSize::default()).unwrap();
    while import.next_step().unwrap().is_some() {}
    import.not_imported().to_string()
}

#[test]
fn cells_of_a_dynamic_array_are_not_constants() {
    let rows = "<row r=\"1\"><c r=\"A1\" cm=\"2\"><f t=\"array\" ref=\"A1:B3\">_xlfn.SEQUENCE(3,2)</f><v>1</v></c><c r=\"B1\"><v>2</v></c><c r=\"C1\"><v>7</v></c></row>\
        <row r=\"2\"><c r=\"A2\" s=\"1\"><v>3</v></c><c r=\"B2\"><f>A1</f><v>4</v></c></row>\
        <row r=\"3\"><c r=\"A3\" t=\"s\"><v>0</v></c><c r=\"B3\" t=\"s\"><v>99</v></c></row>\
        <row r=\"4\"><c r=\"A4\"><v>8</v></c></row>";
    let expected = BTreeMap::from([
        ((0, 0), formula(1.0, "=SEQUENCE(3,2)")),
        ((0, 2), number(7.0, "")),
        ((1, 0), Cell { format: Some("yyyy-mm-dd".into()), ..Cell::default() }),
        ((1, 1), formula(4.0, "=A1")),
        ((3, 0), number(8.0, "")),
    ]);
    assert_eq!(import(METADATA, rows), expected);
    let bytes = Parts { metadata: METADATA, rows, texts: "<sst/>", ..Parts::default() }.packed();
    assert_eq!(not_imported(&bytes), "");
}

#[test]
fn only_metadata_of_dynamic_arrays_is_considered() {
    let rows = |attribute: &str| {
        format!(
            "<row><c{attribute}><f t=\"array\" ref=\"A1:A2\">B1:B2*2</f><v>1</v></c></row>\
             <row><c><v>2</v></c></row>"
        )
    };
    for attribute in [
        "",
        " cm=\"0\"",
        " cm=\"1\"",
        " cm=\"3\"",
        " cm=\"4\"",
        " cm=\"5\"",
        " cm=\"99999999999999999999\"",
        " cm=\"-1\"",
    ] {
        let rows = rows(attribute);
        let cells = import(METADATA, &rows);
        assert_eq!(cells[&(0, 0)], number(1.0, ""), "{attribute}");
        assert_eq!(cells[&(1, 0)], number(2.0, ""), "{attribute}");
        let bytes =
            Parts { metadata: METADATA, rows: &rows, texts: "<sst/>", ..Parts::default() }.packed();
        assert_eq!(not_imported(&bytes), "range of 1 array formula");
    }
    assert_eq!(import(METADATA, &rows(" cm=\"2\"")).len(), 1);
    assert_eq!(import("<metadata/>", &rows(" cm=\"2\"")).len(), 2);
}

#[test]
fn ordinary_formulas_are_shown_with_implicit_intersection() {
    let rows = "<row r=\"1\"><c r=\"A1\"><f>B1:B3*2</f><v>1</v></c><c><f>_xlfn.SINGLE(B1:B3)</f></c>\
        <c cm=\"2\"><f t=\"array\" ref=\"C1\">B1:B3*_xlfn.SINGLE(D1:D3)+_xlfn.ANCHORARRAY(E1)</f></c>\
        <c><f t=\"array\" ref=\"D1\">SUM(B1:B3*2)</f></c></row>\
        <row r=\"2\"><c r=\"A2\"><f t=\"shared\" ref=\"A2:A3\" si=\"0\">B$1:B$3*C2</f></c></row>\
        <row r=\"3\"><c r=\"A3\"><f t=\"shared\" si=\"0\"/></c><c r=\"B3\"><f t=\"shared\" ref=\"B3:C3\" si=\"1\">A1:A2+</f></c></row>";
    assert_eq!(
        formulas(&import(METADATA, rows)),
        [
            "=@B1:B3*2",
            "=@B1:B3",
            "=B1:B3*@D1:D3+E1#",
            "=SUM(B1:B3*2)",
            "=@B$1:B$3*C2",
            "=@B$1:B$3*C3",
            "=A1:A2+",
        ]
    );
}

#[test]
fn a_shared_formula_at_the_edge_of_the_sheet_has_implicit_intersection() {
    let rows = "<row r=\"5\"><c r=\"A5\"><f t=\"shared\" ref=\"A5\" si=\"0\">B1:B3*2</f></c></row>\
        <row r=\"1048575\"><c><f t=\"shared\" si=\"0\"/></c></row><row r=\"1048576\"><c><f t=\"shared\" si=\"0\"/></c></row>";
    let cells = import(METADATA, rows);
    assert_eq!(formulas(&cells)[1], "=@B1048571:B1048573*2");
    let rows = "<row r=\"5\"><c r=\"A5\"><f t=\"shared\" ref=\"A5\" si=\"0\">B8:B9*2</f></c></row>\
        <row r=\"1048576\"><c><f t=\"shared\" si=\"0\"/></c></row>";
    assert_eq!(formulas(&import(METADATA, rows))[1], "=@B3:B4*2");
}

#[test]
fn a_dynamic_array_of_another_library_is_imported() {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let sequence = Formula::new("=SEQUENCE(3)").set_result("1");
    sheet.write_dynamic_array_formula(0, 0, 2, 0, sequence).unwrap();
    sheet.write_formula(0, 1, Formula::new("=A1:A3*2").set_result("2")).unwrap();
    let bytes = workbook.save_to_buffer().unwrap();
    let cells = read(&bytes).unwrap().remove(0).1;
    let expected = BTreeMap::from([
        ((0, 0), formula(1.0, "=SEQUENCE(3)")),
        ((0, 1), formula(2.0, "=@A1:A3*2")),
    ]);
    assert_eq!(cells, expected);
    assert_eq!(not_imported(&bytes), "");
}

#[test]
fn formulas_are_written_and_read_back_unchanged() {
    let texts = [
        "=A1:A3*2",
        "=@A1:A3*2",
        "=A1:A3*@B1:B3",
        "=SUM(A1:A3*B1:B3)",
        "=SUM(@A1:A3*@B1:B3)",
        "=SUM(A1#)",
        "=@A1#",
        "=INDEX(A:A,B1)",
        "=@INDEX(A:A,B1)",
        "=VLOOKUP(A1:A3,B:C,2,0)",
        "=@SEQUENCE(3)",
        "=TRANSPOSE(A1:A3)",
        "={1,2}",
        "=@({1,2}*2)",
        "=SORT(A1:A3)",
        "=LET(x,A1:A3,SUM(x*2))",
        "=A1+(",
    ];
    let cells: Cells = (0..).zip(texts).map(|(row, text)| ((row, 0), formula(1.0, text))).collect();
    let bytes = written(&[("s", cells.clone())]).unwrap();
    assert_eq!(read(&bytes).unwrap()[0].1, cells);
    assert_eq!(not_imported(&bytes), "calculation of 1 formula");
}

/// Writes cells with their formulas, by row and column.
fn with_spill(cells: &[(u32, u32, f64, Option<&str>, Spill)]) -> Vec<u8> {
    let mut writer = XlsxWriter::new(None).unwrap();
    for sheet in ["first", "second"] {
        writer.start_sheet(sheet).unwrap();
        if sheet == "first" {
            for (row, column, value, formula, spill) in cells {
                let (value, format) = (Value::Number(*value), (*row == 2).then_some("0.0"));
                let cell = CellToWrite { value: &value, formula: *formula, format, spill: *spill };
                writer.write_cell(*row, *column, &cell).unwrap();
            }
        } else {
            let value = Value::Number(1.0);
            let cell =
                CellToWrite { value: &value, formula: None, format: None, spill: Spill::Spilled };
            writer.write_cell(1, 0, &cell).unwrap();
        }
    }
    let mut target = Cursor::new(Vec::new());
    writer.finish(&mut target).unwrap();
    target.into_inner()
}

#[test]
fn spilled_cells_are_values_of_the_formula_and_no_constants() {
    let anchor = Spill::Anchor { rows: 3, columns: 1 };
    let column = |spill| {
        [
            (0, 0, 1.0, Some("=SEQUENCE(3)"), spill),
            (1, 0, 2.0, None, Spill::Spilled),
            (2, 0, 3.0, None, Spill::Spilled),
            (3, 0, 4.0, None, Spill::None),
        ]
    };
    let bytes = with_spill(&column(anchor));
    assert_eq!(
        sheet_xml(&bytes),
        "<row r=\"1\"><c r=\"A1\" cm=\"1\"><f t=\"array\" ref=\"A1:A3\">_xlfn.SEQUENCE(3)</f><v>1</v></c></row>\
         <row r=\"2\"><c r=\"A2\"><v>2</v></c></row><row r=\"3\"><c r=\"A3\" s=\"1\"><v>3</v></c></row>\
         <row r=\"4\"><c r=\"A4\"><v>4</v></c></row>"
    );
    let read_back = BTreeMap::from([
        ((0, 0), formula(1.0, "=SEQUENCE(3)")),
        ((2, 0), Cell { format: Some("0.0".into()), ..Cell::default() }),
        ((3, 0), number(4.0, "")),
    ]);
    let sheets = read(&bytes).unwrap();
    assert_eq!(sheets[0].1, read_back);
    assert!(sheets[1].1.is_empty());
    // The size is not known.
    let bytes = with_spill(&column(Spill::None));
    assert!(sheet_xml(&bytes).contains("ref=\"A1\""));
    assert_eq!(read(&bytes).unwrap()[0].1, read_back);
}

#[test]
fn an_area_ends_at_the_edge_of_the_sheet() {
    let anchor = Spill::Anchor { rows: u32::MAX, columns: u32::MAX };
    let xml = sheet_xml(&with_spill(&[
        (5, 3, 1.0, Some("=A1"), anchor),
        (5, 4, 1.0, Some("=A1"), anchor),
        (6, 4, 1.0, Some("=A1"), Spill::Anchor { rows: 0, columns: 0 }),
    ]));
    assert!(xml.contains("cm=\"1\"><f t=\"array\" ref=\"D6:XFD1048576\">A1</f>"), "{xml}");
    assert!(
        xml.contains("<c r=\"E6\"><f>A1</f>") && xml.contains("<c r=\"E7\"><f>A1</f>"),
        "{xml}"
    );
}

#[test]
fn damaged_and_hostile_ranges() {
    let array = |cell: &str, range: &str| {
        format!("<c r=\"{cell}\" cm=\"2\"><f t=\"array\" ref=\"{range}\">B9</f><v>1</v></c>")
    };
    for range in [
        "",
        ":",
        "A1:",
        ":A2",
        "A1:A0",
        "A1:A99999999999",
        "A1:#REF!",
        "$A$1:$A$2",
        "B2:A1",
        "A3:A9",
        "A1:B2:C3",
        "A1",
    ] {
        let rows = format!("<row>{}</row><row><c><v>2</v></c></row>", array("A1", range));
        assert_eq!(import(METADATA, &rows)[&(1, 0)], number(2.0, ""), "{range}");
    }
    let everything = format!(
        "<row>{}<c><f>A1</f><v>2</v></c><c><v>3</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>4</v></c><c><v>5</v></c></row>",
        array("A1", "A1:XFD1048576")
    );
    let cells: Vec<_> = import(METADATA, &everything).into_keys().collect();
    assert_eq!(cells, [(0, 0), (0, 1), (1_048_575, 16_384)]);
    // The second range overlaps the first, and does not count.
    let overlapping = format!(
        "<row r=\"1\"><c><v>0</v></c>{}</row><row r=\"2\">{}<c><v>2</v></c></row><row r=\"3\"><c r=\"A3\"><v>3</v></c><c r=\"B3\"><v>4</v></c></row>",
        array("B1", "B1:B3"),
        array("A2", "A2:C9"),
    );
    let cells: Vec<_> = import(METADATA, &overlapping).into_keys().collect();
    assert_eq!(cells, [(0, 0), (0, 1), (1, 0), (2, 0)]);
}

#[test]
fn many_ranges_take_bounded_time() {
    const ROWS: u32 = 80;
    const COLUMNS: u32 = 2_000;
    let anchor = |name: CellName| {
        format!("<c cm=\"2\"><f t=\"array\" ref=\"{name}:XFD1048576\">1</f><v>1</v></c>")
    };
    let row = |row: u32| {
        let cells = (0..COLUMNS).map(|column| match row % 2 {
            0 => anchor(CellName { row, column }),
            _ => "<c><v>1</v></c>".to_owned(),
        });
        format!("<row>{}</row>", cells.collect::<String>())
    };
    let rows: String = (0..ROWS).map(row).collect();
    let bytes = Parts { metadata: METADATA, rows: &rows, ..Parts::default() }.packed();
    let start = Instant::now();
    let sheets = read_in(&bytes, BlockSize::default()).unwrap();
    assert_eq!(sheets[0].1.len() as u32, ROWS / 2 * COLUMNS);
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn records_of_metadata_are_counted() {
    let records = |count: usize| {
        let records = "<bk/>".repeat(count);
        let metadata = format!("<metadata><cellMetadata>{records}</cellMetadata></metadata>");
        read_in(&Parts { metadata: &metadata, ..Parts::default() }.packed(), BlockSize::default())
    };
    assert!(records(MAX_WORKBOOK_STYLES).is_ok());
    assert!(matches!(
        records(MAX_WORKBOOK_STYLES + 1),
        Err(ReadError::InWorkbook(WorkbookError::TooManyStyles))
    ));
    for damaged in ["<metadata>", "<metadata><cellMetadata><rc/></cellMetadata></metadata>", ""] {
        let bytes = Parts { metadata: damaged, ..Parts::default() }.packed();
        assert_eq!(read(&bytes).is_ok(), damaged != "<metadata>");
    }
}

#[test]
fn formulas_of_ods_files_have_implicit_intersection() {
    let content = super::ods::CONTENT;
    let (before, after) = content.split_once("<table:table-row").unwrap();
    let row = "<table:table-row><table:table-cell table:formula=\"of:=[.B1:.B3]*2\" office:value-type=\"float\" office:value=\"1\"/>\
        <table:table-cell table:formula=\"of:=SUM([.B1:.B3]*2)\" table:number-matrix-columns-spanned=\"1\" table:number-matrix-rows-spanned=\"1\" office:value-type=\"float\" office:value=\"1\"/>\
        <table:table-cell table:formula=\"of:=[.B1:.B3]*2\" table:number-matrix-columns-spanned=\"1\" table:number-matrix-rows-spanned=\"3\" office:value-type=\"float\" office:value=\"5\"/></table:table-row>";
    let content = format!("{before}{row}<table:table-row{after}");
    let cells = read(&super::ods::document(&content)).unwrap().remove(0).1;
    assert_eq!(formulas(&cells)[..2], ["=@B1:B3*2", "=SUM(B1:B3*2)"]);
    assert_eq!(cells[&(0, 2)], number(5.0, ""));
}

#[test]
fn a_workbook_without_metadata_has_no_dynamic_arrays() {
    let rows = "<row><c cm=\"1\"><f t=\"array\" ref=\"A1:A2\">B1:B2</f><v>1</v></c></row><row><c><v>2</v></c></row>";
    assert_eq!(read(&with_rows(rows)).unwrap()[0].1.len(), 2);
}
