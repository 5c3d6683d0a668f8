//! Tests of files in other encodings than UTF-8, and of detected delimiters.

use proptest::prelude::*;

use super::*;

fn in_encoding(name: &str) -> CsvOptions {
    CsvOptions { encoding: Some(name.parse().unwrap()), ..CsvOptions::default() }
}

/// Encodes the text as UTF-16 with a byte order mark.
fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(to_bytes).collect()
}

#[test]
fn a_byte_order_mark_decides_about_the_encoding() {
    let text = "größe;€\n1,5;\u{1f600}\n";
    for (bytes, name) in [
        (format!("\u{feff}{text}").into_bytes(), "UTF-8"),
        (utf16(text, u16::to_le_bytes), "UTF-16LE"),
        (utf16(text, u16::to_be_bytes), "UTF-16BE"),
    ] {
        for options in [CsvOptions::default(), in_encoding("windows-1252")] {
            for drip in [1, 3, 1 << 20] {
                let (survey, texts, _) = import(Dripping(&bytes, drip), &options).unwrap();
                assert_eq!((survey.encoding.name(), survey.delimiter), (name, b';'));
                let expected = [(0, 0, "größe"), (0, 1, "€"), (1, 0, "1,5"), (1, 1, "\u{1f600}")];
                assert_eq!(places(&texts), expected);
            }
        }
    }
}

#[test]
fn a_chosen_encoding_decodes_every_byte() {
    let bytes = b"caf\xe9,\x80\n";
    assert!(matches!(fault(bytes), ReadError::NotUtf8 { line: 1, byte: 3 }));
    for name in ["windows-1252", "latin1"] {
        let (survey, texts, _) = import(&bytes[..], &in_encoding(name)).unwrap();
        assert_eq!(survey.encoding.name(), "windows-1252");
        assert_eq!(places(&texts), [(0, 0, "café"), (0, 1, "€")]);
    }
    let le: Vec<u8> = "ä,b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(places(&import(le.as_slice(), &in_encoding("utf-16le")).unwrap().1)[0], (0, 0, "ä"));
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let lone_surrogate = [utf16("a,b\n", u16::to_le_bytes), vec![0, 0xd8, b'x', 0]].concat();
    let cut = [utf16("a,b\n", u16::to_be_bytes), vec![0]].concat();
    for (bytes, encoding, at) in [(lone_surrogate, "UTF-16LE", 10), (cut, "UTF-16BE", 10)] {
        for drip in [1, 1 << 20] {
            let error = import(Dripping(&bytes, drip), &CsvOptions::default()).unwrap_err();
            let ReadError::NotInEncoding { encoding: named, byte } = error else {
                panic!("{error}")
            };
            assert_eq!((named, byte), (encoding, at));
        }
    }
    let error = import(&b"a\x81\n"[..], &in_encoding("shift_jis")).unwrap_err();
    assert!(matches!(error, ReadError::NotInEncoding { byte: 1, .. }), "{error}");
}

/// A sample makes the import read the file a second time.
#[test]
fn every_pass_reads_the_detected_text() {
    let rows = format!("{}x;y\n", "1;ä\n".repeat(100));
    let bytes = utf16(&rows, u16::to_le_bytes);
    let options = CsvOptions { sample_bytes: Some(8), ..CsvOptions::default() };
    let (survey, texts, _) = import(bytes.as_slice(), &options).unwrap();
    assert_eq!((survey.rows, survey.columns), (101, 2));
    assert_eq!(texts[&(100, 0)], "x");
}

#[test]
fn an_endless_file_in_another_encoding_is_refused_early() {
    let source = Endless { start: b"\xff\xfea\0,\0", again: b"x\0", bytes: 4 << 20 };
    assert!(matches!(import(source, &CsvOptions::default()), Err(ReadError::TextTooLong { .. })));
}

#[test]
fn a_chosen_delimiter_wins() {
    let text = &b"a;b,c\nd;e,f\n"[..];
    let fields = |delimiter| {
        let options = CsvOptions { delimiter, ..CsvOptions::default() };
        places(&import(text, &options).unwrap().1)[0].2.to_owned()
    };
    assert_eq!(fields(None), "a;b");
    assert_eq!(fields(Some(b';')), "a");
    assert_eq!(fields(Some(b'|')), "a;b,c");
}

proptest! {
    #[test]
    fn no_encoding_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        name in "utf-16le|utf-16be|windows-1252|shift_jis|gb18030|iso-2022-jp|euc-kr|big5",
        drip in 1..9_usize,
    ) {
        let options = CsvOptions { pads_short_rows: true, ..in_encoding(&name) };
        let whole = import(bytes.as_slice(), &options).map_err(|error| error.to_string());
        let dripped = import(Dripping(&bytes, drip), &options).map_err(|error| error.to_string());
        prop_assert_eq!(whole, dripped);
    }

    #[test]
    fn text_in_utf16_is_read_like_utf8(text in "([a-c0-9.,;\"\n\r-]|ä|\u{1f600}){1,60}") {
        let read = |bytes: &[u8]| {
            import(bytes, &CsvOptions::default())
                .map(|(survey, texts, _)| (survey.rows, texts))
                .map_err(|error| error.to_string())
        };
        prop_assert_eq!(read(&utf16(&text, u16::to_le_bytes)), read(text.as_bytes()));
    }

    #[test]
    fn no_written_text_is_taken_for_a_delimiter(
        rows in (1..4_usize).prop_flat_map(|columns| proptest::collection::vec(
            proptest::collection::vec("[a-c;,|\t ]{1,6}", columns), 1..6)),
    ) {
        let bytes = written(&rows);
        let (_, texts, _) = import(bytes.as_slice(), &CsvOptions::default()).unwrap();
        for (row, fields) in (0..).zip(&rows) {
            for (column, field) in (0..).zip(fields) {
                prop_assert_eq!(&texts[&(row, column)], field);
            }
        }
    }
}
