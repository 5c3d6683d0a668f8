//! Property tests for arbitrary texts.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), pads_short_rows: bool) {
        let _ = import(bytes.as_slice(), &CsvOptions { pads_short_rows, ..commas() });
    }

    #[test]
    fn what_is_accepted_is_what_the_csv_library_reads(
        text in "([a-c0-9.,\"\n\r;\t-]|TRUE|2020-01-01|ä|\u{0}){0,60}",
        drip in 1..9_usize,
        cells in 1..9_usize,
    ) {
        let block = BlockSize { rows: 4, cells };
        let options = CsvOptions { block, ..pads_short_rows() };
        let whole = import(text.as_bytes(), &options);
        let dripped = import(Dripping(text.as_bytes(), drip), &pads_short_rows());
        match (whole, dripped) {
            (Ok((survey, shown, _)), Ok((other, others, _))) => {
                prop_assert_eq!((&survey, &shown), (&other, &others));
                // Both libraries count blank lines as rows only in files of one column.
                let first_fields = csv::ReaderBuilder::new().has_headers(false).flexible(true)
                    .from_reader(text.as_bytes()).records().next().unwrap().unwrap().len();
                if first_fields > 1 {
                    prop_assert_eq!(shown, fields(text.as_bytes()));
                }
            }
            (Err(one), Err(two)) => prop_assert_eq!(one.to_string(), two.to_string()),
            (one, two) => prop_assert!(false, "{:?} {:?}", one.is_ok(), two.is_ok()),
        }
    }

    #[test]
    fn a_sample_changes_nothing(
        rows in proptest::collection::vec(
            proptest::collection::vec("|1|2.5|3.50|0?7|x|TRUE|2012-01-0[1-9]|\\PC{0,3}", 3),
            1..30,
        ),
        sample_bytes in 0..200_u64,
    ) {
        let bytes = written(&rows);
        let read = |sample_bytes| {
            let options = CsvOptions { sample_bytes, ..commas() };
            import(bytes.as_slice(), &options).map_err(|error| error.to_string())
        };
        prop_assert_eq!(read(Some(sample_bytes)), read(None));
    }

    #[test]
    fn what_is_written_is_read_back(
        rows in (1..4_usize).prop_flat_map(|columns| proptest::collection::vec(
            proptest::collection::vec("[a-z0-9\", \n\r\u{feff}PK\u{3}\u{4}]{0,6}|[0-9]\\.[0-9]|TRUE|20[0-2][0-9]-0[1-9]-1[0-9]", columns), 1..6)),
    ) {
        let bytes = written(&rows);
        let expected: Texts = (0..)
            .zip(&rows)
            .flat_map(|(r, row)| (0..).zip(row).map(move |(c, text)| ((r, c), text.clone())))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        let mut library = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        let read: Vec<Vec<String>> = library
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        if !bytes.starts_with("\u{feff}".as_bytes()) {
            prop_assert_eq!(&read, &rows);
        }
        match import(bytes.as_slice(), &CsvOptions::default()) {
            Ok((_, texts, _)) => prop_assert_eq!(texts, expected),
            Err(error) => prop_assert!(
                matches!(error, ReadError::Empty) && expected.is_empty(), "{}", error),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Rows that end with a carriage return are split one at a time.
    #[test]
    fn rows_are_the_same_whether_they_are_split_at_once_or_not(
        rows in (1..5_usize).prop_flat_map(|columns| proptest::collection::vec(
            proptest::collection::vec(
                "|1|-2|12345678|-1234567\\.25|2\\.5|3\\.50|0\\.10|007|x|ä|TRUE|2012-01-0[1-9]|\"a,b\"|\"\"|\"a\"\"b\"",
                columns,
            ),
            1..60,
        )),
        (line_end, ragged) in ("\n|\r\n", any::<bool>()),
        (cells, sample_bytes) in (1..60_usize, proptest::option::of(0..300_u64)),
    ) {
        let block = BlockSize { rows: 20, cells };
        let options = CsvOptions { block, sample_bytes, pads_short_rows: ragged, ..commas() };
        let text_with = |line_end: &str| -> String {
            let rows = rows.iter().enumerate();
            let row = |(number, row): (usize, &Vec<String>)| match ragged && number % 7 == 6 {
                true => format!("{},x{line_end}", row.join(",")),
                false => format!("{}{line_end}", row.join(",")),
            };
            rows.map(row).collect()
        };
        let read = |text: &str| import(text.as_bytes(), &options).map_err(|error| error.to_string());
        prop_assert_eq!(read(&text_with(&line_end)), read(&text_with("\r")));
    }
}
