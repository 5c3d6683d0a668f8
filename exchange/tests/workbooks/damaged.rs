//! Tests of damaged archives and arbitrary bytes.

use cellar_base::limits::{MAX_WORKBOOK_BYTES, MAX_WORKBOOK_PARTS, MAX_XML_EVENT_BYTES};
use cellar_exchange::{FileSource, Source};
use proptest::prelude::*;

use super::*;

#[test]
fn files_that_are_no_workbooks() {
    for bytes in [&b""[..], b"a,b\n", b"PK", b"PK\x03\x04 and so on"] {
        assert!(matches!(
            workbook_fault(bytes),
            WorkbookError::Unknown | WorkbookError::Archive { .. }
        ));
    }
    assert!(matches!(workbook_fault(b"\xd0\xcf\x11\xe0 and so on"), WorkbookError::Compound));
    assert!(matches!(workbook_fault(&archive(&[("x", b"y")])), WorkbookError::Unknown));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.xlsx");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(MAX_WORKBOOK_BYTES + 1).unwrap();
    let error = || {
        let import = WorkbookImport::open(FileSource(path.clone()), BlockSize::default());
        import.map(|_| ()).unwrap_err()
    };
    assert_eq!(FileSource(path.clone()).bytes().unwrap(), MAX_WORKBOOK_BYTES + 1);
    assert!(matches!(error(), ReadError::InWorkbook(WorkbookError::FileTooLarge { .. })));
    // A file of one byte less is opened, but is not a workbook.
    file.set_len(MAX_WORKBOOK_BYTES).unwrap();
    assert!(matches!(error(), ReadError::InWorkbook(WorkbookError::Unknown)));
}

#[test]
fn an_archive_that_is_cut_off_anywhere_is_an_error() {
    let whole = super::xlsx::by_the_library();
    for end in (0..whole.len()).step_by(97).chain(whole.len() - 30..whole.len()) {
        assert!(read_in(&whole[..end], BlockSize::default()).is_err(), "{end}");
    }
}

#[test]
fn one_flipped_bit_is_never_silent() {
    let rows = "<row><c><v>1</v></c></row>".repeat(50);
    let whole = super::xlsx::with_rows(&rows);
    let expected = format!("{:?}", read(&whole).unwrap());
    let mut noticed = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        match read_in(&bytes, BlockSize::default()) {
            Err(_) => noticed += 1,
            Ok(sheets) => {
                // A changed name or time of a part cannot change cells, but can remove whole parts.
                let cells = sheets.iter().map(|(_, cells)| cells.len()).sum::<usize>();
                assert!(cells == 50 || format!("{sheets:?}") == expected, "{at}");
            }
        }
    }
    assert!(noticed > whole.len() / 4);
}

#[test]
fn parts_are_counted() {
    let parts = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        archive(&names.iter().map(|name| (name.as_str(), &b""[..])).collect::<Vec<_>>())
    };
    assert!(matches!(workbook_fault(&parts(MAX_WORKBOOK_PARTS)), WorkbookError::Unknown));
    assert!(matches!(workbook_fault(&parts(MAX_WORKBOOK_PARTS + 1)), WorkbookError::TooManyParts));
}

/// Changes the uncompressed size of every part in the directory.
fn declaring(mut bytes: Vec<u8>, size: u32) -> Vec<u8> {
    let entries: Vec<usize> =
        (0..bytes.len() - 46).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02")).collect();
    for at in entries {
        bytes[at + 24..at + 28].copy_from_slice(&size.to_le_bytes());
    }
    bytes
}

#[test]
fn what_is_declared_is_refused_early_and_not_believed() {
    let whole = super::xlsx::with_rows("<row><c><v>1</v></c></row>");
    let huge = declaring(whole.clone(), 0xffff_fffe);
    assert!(matches!(workbook_fault(&huge), WorkbookError::UnpacksTooLarge));
    // A declared size that is too small does not prevent reading.
    let small = read(&declaring(whole.clone(), 1)).unwrap();
    assert_eq!(small, read(&whole).unwrap());
}

#[test]
fn xml_that_is_long_or_deep() {
    let within = |xml: &str| super::xlsx::with_rows(xml);
    let too_long = |xml: &str| match read(&within(xml)) {
        Ok(_) => false,
        Err(ReadError::InWorkbook(WorkbookError::EventTooLong { .. })) => true,
        Err(error) => panic!("{error}"),
    };
    let tag = |bytes: usize| format!("<row x=\"{}\"/>", "x".repeat(bytes - 11));
    let spaces = |bytes: usize| format!("<row>{}</row>", " ".repeat(bytes));
    let comment = |bytes: usize| format!("<!--{}-->", "x".repeat(bytes - 7));
    for event in [&tag as &dyn Fn(usize) -> String, &spaces, &comment] {
        // The XML reader decides to which of two events a bracket between them belongs.
        assert!(!too_long(&event(MAX_XML_EVENT_BYTES - 2)));
        assert!(too_long(&event(MAX_XML_EVENT_BYTES + 2)));
    }
    let endless = format!("<{}", "x".repeat(MAX_XML_EVENT_BYTES));
    assert!(too_long(&endless));
    let deep = format!("{}{}", "<a>".repeat(100), "</a>".repeat(100));
    assert!(matches!(workbook_fault(&within(&deep)), WorkbookError::Damaged { .. }));
    for broken in
        ["<row><c></row>", "<row><c", "</sheetData></worksheet>", "<row>&#xFFFFFFFF;</row>"]
    {
        let _ = read(&within(broken));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_in(&[b"PK", bytes.as_slice()].concat(), BlockSize::default());
    }

    #[test]
    fn no_damage_to_an_archive_panics(
        places in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..9),
        kind in 0..3,
    ) {
        let mut bytes = match kind {
            0 => super::xlsx::by_the_library(),
            1 => super::ods::document(super::ods::CONTENT),
            _ => super::xlsb::workbook(super::xlsb::CELLS),
        };
        for (at, byte) in places {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read_in(&bytes, BlockSize::default());
    }

    #[test]
    fn no_rows_panic(rows in "(<row r=\"[0-9]{0,3}\">|</row>|<c r=\"[A-Z]{0,2}[0-9]{0,2}\" t=\"(s|b|e|d|n|str)\" s=\"[0-9]\">|</c>|<v>|</v>|<f t=\"shared\" si=\"[0-9]\">|</f>|[A-Z0-9$:.&;#-]{0,5}){0,20}") {
        let _ = read_in(&super::xlsx::with_rows(&rows), BlockSize::default());
    }

    #[test]
    fn no_document_panics(at in 0..super::ods::CONTENT.len(), with in "[<>/\"=&a-z0-9: -]{0,12}") {
        let mut content = super::ods::CONTENT.to_owned();
        let at = content.floor_char_boundary(at);
        let end = content.floor_char_boundary((at + with.len()).min(content.len()));
        content.replace_range(at..end, &with);
        let _ = read_in(&super::ods::document(&content), BlockSize::default());
    }

    #[test]
    fn no_records_panic(cells in proptest::collection::vec((0..20_u16, proptest::collection::vec(any::<u8>(), 0..24)), 0..6)) {
        let records: Vec<_> = cells.iter().map(|(kind, bytes)| (*kind, bytes.as_slice())).collect();
        let _ = read_in(&super::xlsb::workbook(&records), BlockSize::default());
    }
}
