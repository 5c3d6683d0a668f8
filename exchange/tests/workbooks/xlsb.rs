//! Tests with handwritten xlsb files.

use super::*;

/// Returns a record with a type and contents.
pub(super) type Record<'a> = (u16, &'a [u8]);

pub(super) const CELLS: &[Record<'_>] = &[
    (0, &[0, 0, 0, 0]),
    // 2.5 as the high bits of a floating-point number, -3 as an integer, 1.25 in hundredths.
    (2, &[0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x00, 0x04, 0x40]),
    (2, &[1, 0, 0, 0, 0, 0, 0, 0, 0xf6, 0xff, 0xff, 0xff]),
    (2, &[2, 0, 0, 0, 0, 0, 0, 0, 0xf7, 0x01, 0x00, 0x00]),
    (0, &[4, 0, 0, 0]),
    (3, &[0, 0, 0, 0, 0, 0, 0, 0, 0x2a]),
    (4, &[1, 0, 0, 0, 0, 0, 0, 0, 1]),
    // 40909 with the style of a date.
    (5, &[2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xa0, 0xf9, 0xe3, 0x40]),
    (6, &[3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xe4, 0, b'b', 0]),
    (7, &[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
];

fn records(records: &[Record<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, content) in records {
        if *kind > 0x7f {
            bytes.extend([(kind & 0x7f) as u8 | 0x80, (kind >> 7) as u8]);
        } else {
            bytes.push(*kind as u8);
        }
        bytes.push(u8::try_from(content.len()).unwrap());
        bytes.extend_from_slice(content);
    }
    bytes
}

fn text_record(before: &[u8], texts: &[&str]) -> Vec<u8> {
    let mut bytes = before.to_vec();
    for text in texts {
        let units: Vec<u16> = text.encode_utf16().collect();
        bytes.extend(u32::try_from(units.len()).unwrap().to_le_bytes());
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    }
    bytes
}

/// Returns a workbook of one sheet with the cells.
pub(super) fn workbook(cells: &[Record<'_>]) -> Vec<u8> {
    let mut sheet = vec![(0x81, &[][..]), (0x94, &[0; 16][..]), (0x91, &[][..])];
    sheet.extend_from_slice(cells);
    sheet.extend([(0x92, &[][..]), (0x82, &[][..])]);
    with_sheet(&records(&sheet))
}

fn with_sheet(sheet: &[u8]) -> Vec<u8> {
    let relations: &[u8] = b"<Relationships><Relationship Id=\"r\" Type=\"x/officeDocument\" Target=\"xl/workbook.bin\"/></Relationships>";
    let targets: &[u8] = b"<Relationships><Relationship Id=\"s1\" Type=\"x/worksheet\" Target=\"worksheets/sheet1.bin\"/><Relationship Id=\"s2\" Type=\"x/sharedStrings\" Target=\"sharedStrings.bin\"/><Relationship Id=\"s3\" Type=\"x/styles\" Target=\"styles.bin\"/></Relationships>";
    let bundle = text_record(&[0, 0, 0, 0, 1, 0, 0, 0], &["s1", "Bin"]);
    let book = records(&[
        (0x83, &[]),
        (0x99, &[0; 12]),
        (0x8f, &[]),
        (0x9c, &bundle),
        (0x90, &[]),
        (0x84, &[]),
    ]);
    let shared = text_record(&[0], &["shared"]);
    let texts = records(&[(0x9f, &[1, 0, 0, 0, 1, 0, 0, 0]), (0x13, &shared), (0xa0, &[])]);
    let style = |format: u8| [0xff, 0xff, format, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let styles =
        records(&[(0x269, &[2, 0, 0, 0]), (0x2f, &style(0)), (0x2f, &style(14)), (0x26a, &[])]);
    archive(&[
        ("_rels/.rels", relations),
        ("xl/_rels/workbook.bin.rels", targets),
        ("xl/workbook.bin", &book),
        ("xl/sharedStrings.bin", &texts),
        ("xl/styles.bin", &styles),
        ("xl/worksheets/sheet1.bin", sheet),
    ])
}

#[test]
fn every_kind_of_cell() {
    let sheets = read(&workbook(CELLS)).unwrap();
    assert_eq!(sheets[0].0, SheetStart { name: Some("Bin".into()), hidden: false });
    let expected = BTreeMap::from([
        ((0, 0), number(2.5, "")),
        ((0, 1), number(-3.0, "")),
        ((0, 2), number(1.25, "")),
        ((4, 0), error(ErrorCode::NotAvailable)),
        ((4, 1), cell(Value::Bool(true))),
        ((4, 2), number(40_909.0, "yyyy-mm-dd")),
        ((4, 3), text("äb")),
        ((4, 4), text("shared")),
    ]);
    assert_eq!(sheets[0].1, expected);
}

#[test]
fn damaged_records_are_errors() {
    for cell in [
        (2, &[0, 0, 0, 0, 0, 0, 0][..]),
        (3, &[0, 0, 0, 0, 0, 0, 0, 0, 0x99]),
        (5, &[0, 0, 0, 0, 0, 0, 0, 0]),
        (5, &[0xff; 16]),
        (6, &[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]),
        (6, &[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
        (7, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
        (0, &[0, 0, 0]),
        (0, &[0xff; 4]),
    ] {
        let error = workbook_fault(&workbook(&[cell]));
        assert!(matches!(error, WorkbookError::Damaged { .. }), "{cell:?}: {error}");
    }
    for sheet in [&[][..], &[0], &[0, 4, 0], &[0x80], &[6, 0xff, 0xff, 0xff, 0x7f], &[5, 0xff]] {
        let found = read(&with_sheet(sheet)).map(|_| "no error");
        assert!(matches!(found, Err(ReadError::InWorkbook(_))), "{sheet:?}");
    }
}
