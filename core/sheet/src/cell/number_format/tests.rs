use proptest::prelude::*;

use super::*;

/// Written by `tests/golden/number-formats.mjs`.
const FACTS: &str = include_str!("../../../../../tests/golden/number-formats.tsv");

fn display(code: &str, number: f64) -> String {
    NumberFormat::parse(code).unwrap_or_else(|error| panic!("{code}: {error}")).display(number)
}

#[test]
fn displays_what_other_programs_display() {
    let mut count = 0;
    let mut differences = Vec::new();
    for line in FACTS.lines() {
        let [code, value, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let code: String = serde_json::from_str(code).unwrap();
        let expected: String = serde_json::from_str(expected).unwrap();
        let shown = match serde_json::from_str(value).unwrap() {
            serde_json::Value::String(text) => {
                NumberFormat::parse(&code).map(|format| format.display_text(&text))
            }
            number => NumberFormat::parse(&code).map(|it| it.display(number.as_f64().unwrap())),
        };
        if shown.as_ref() != Ok(&expected) {
            differences.push(format!("{code:?} {value}: {shown:?} instead of {expected:?}"));
        }
        count += 1;
    }
    assert!(count > 5_000, "{count}");
    assert!(differences.is_empty(), "{}\n{}", differences.len(), differences.join("\n"));
}

/// Facts on which `ssf` and `numfmt` disagree, or where Cellar differs from both on purpose.
#[test]
fn displays_what_excel_displays_where_other_programs_disagree() {
    for (code, number, text) in [
        // Excel rounds the decimal digits, not the binary number.
        ("0.00", 1.005, "1.01"),
        ("#,##0.00", -0.001, "0.00"),
        ("0.0", -0.0, "-0.0"),
        ("0.0", -0.04, "0.0"),
        // Decimals with other placeholders than 0.
        ("0.0?", 1.5, "1.5 "),
        ("0.??", 1.5, "1.5 "),
        ("0.#0", 1.5, "1.50"),
        ("?,???", 5.0, "    5"),
        ("?,???", 1234.0, "1,234"),
        ("#,#", 1234.0, "1,234"),
        ("0000,000", 5.0, "0,000,005"),
        // All percent signs count, and a comma beside a percent sign divides.
        ("0%%", 0.5, "5000%%"),
        ("0,%", 5000.0, "500%"),
        ("%0", 0.5, "%50"),
        // Exponents are multiples of the number of integer placeholders, also after rounding.
        ("00.00E+00", 12_345.0, "01.23E+04"),
        ("##0.0E+0", 999.96, "1.0E+3"),
        ("##0.0E+0", 999_960_000.0, "1.0E+9"),
        (".00E+0", 12_345.0, ".12E+5"),
        ("#,##0E+0", 12_345.0, "1E+4"),
        ("0.00E-00", 0.001_23, "1.23E-03"),
        ("0.00E-00", 1230.0, "1.23E03"),
        ("0.0e+0", 15.0, "1.5E+1"),
        ("0E+#", 5.0, "5E+0"),
        ("0.E+0", 50.0, "5.E+1"),
        // Fractions.
        ("# ?/?", 2.9999, "3    "),
        ("# 0/0", 1.25, "1 1/4"),
        ("# ?/4", 0.1, "0    "),
        ("# ?/??", 1.5, "1 1/2 "),
        ("# ??/?", 1.5, "1  1/2"),
        ("#,##0 ??/??", 12_345.5, "12,345  1/2 "),
        ("0 \"and\" ?/?", 1.25, "1 and 1/4"),
        ("??? ??/??", 12.5, " 12  1/2 "),
        ("?/?", 0.0, "0/1"),
        // The sign is before all text, and is displayed unless a section has only negative numbers.
        ("\"abc\"", -5.0, "-abc"),
        ("\"a\"General\"b\"", -5.0, "-a5b"),
        ("000-00-0000", -123_456_789.0, "-123-45-6789"),
        ("[>100]0.0;0", -5.0, "-5"),
        ("[<1]0;0.0", -5.0, "-5"),
        ("[=0]\"z\";0.0", -5.0, "-5.0"),
        ("[>=100]\"a\"0;\"b\"0;\"c\"0", -5.0, "-b5"),
        ("[<0]\"n\"0", -5.0, "n5"),
        // Dates.
        ("mm:ss", 59.6 / 86_400.0, "01:00"),
        ("h:mm:ss", 0.999_999, "0:00:00"),
        ("yyyy-mm-dd hh:mm", 40_909.999_999, "2012-01-02 00:00"),
        ("[mm]:ss", 0.999_999_9, "1440:00"),
        ("h:mm a/p", 0.1, "2:24 a"),
        ("h:mm A/P", 0.6, "2:24 P"),
        ("h AM/PM mm", 0.51, "12 PM 14"),
        ("h \"x\" mmm", 40_909.5, "12 x Jan"),
        ("hhh:mmm", 40_909.5, "12:Jan"),
        ("dddd d. mmmm yyyy", 45_000.0, "Wednesday 15. March 2023"),
        ("h:mm;-h:mm", -0.5, "-12:00"),
        // Currencies and languages: separators and names are those of English.
        ("[$€-407] #,##0.00", 1234.5, "€ 1,234.50"),
        ("[$-409]0.00", 5.0, "5.00"),
        ("#,##0.00 \"руб\"", 5.0, "5.00 руб"),
        ("£0.00", 5.0, "£5.00"),
        ("0°", 5.0, "5°"),
        ("0.0.0", 1.5, "1.5.0"),
        ("0.5", 7.0, "7.5"),
        ("0, 0", 12_000.0, "1 2"),
    ] {
        assert_eq!(display(code, number), text, "{number} as {code}");
    }
}

/// Excel displays `####`, or other digits, in these cells.
#[test]
fn letters_in_quotes_are_no_dates() {
    let is_date = |code| NumberFormat::parse(code).unwrap().is_date();
    for code in ["dd.mm.yy", "[h]:mm", "mmmm", "0;yyyy"] {
        assert!(is_date(code), "{code}");
    }
    for code in ["0.00 \"days\"", "0.0\\d", "#,##0", "General", "@"] {
        assert!(!is_date(code), "{code}");
    }
}

#[test]
fn numbers_that_a_format_cannot_display_are_displayed_as_general() {
    for (code, number, text) in [
        ("yyyy-mm-dd", -1.0, "-1"),
        ("yyyy-mm-dd", 60.0, "60"),
        ("d h:mm", 0.5, "0.5"),
        ("yyyy-mm-dd", 2_958_466.0, "2958466"),
        ("h:mm", 2_958_466.0, "2958466"),
        ("h:mm", -0.5, "-0.5"),
        ("[h]:mm", 1e300, "1e300"),
        ("[>100]0.0", 5.25, "5.25"),
        ("[>100]0;[<0]0", 5.25, "5.25"),
        ("@", -5.25, "-5.25"),
        ("0", 1_234_567_890_123_456.0, "1234567890123456"),
        ("\"x \"General", 0.1 + 0.2, "x 0.30000000000000004"),
    ] {
        assert_eq!(display(code, number), text, "{number} as {code}");
    }
}

#[test]
fn formats_of_texts_follow_excel() {
    let text = |code, number| NumberFormat::parse_as_excel(code).ok()?.try_display(number);
    for (code, number, expected) in [
        ("General", 0.1 + 0.2, Some("0.3")),
        ("General", 1e21, Some("1E+21")),
        ("@", 0.1 + 0.2, Some("0.3")),
        ("0", 1_234_567_890_123_456.0, Some("1234567890123460")),
        ("0.0", -0.0, Some("0.0")),
        ("0.0", -0.01, Some("0.0")),
        ("0 kW", 5.0, Some("5 kW")),
        ("0 kg", 5.0, None),
        ("yyyy-mm-dd", 0.0, Some("1900-01-00")),
        ("dddd d mmm", 59.0, Some("Tuesday 28 Feb")),
        ("yyyy-mm-dd", 60.0, Some("1900-02-29")),
        ("yyyy-mm-dd", 2_958_465.0, Some("9999-12-31")),
        ("yyyy-mm-dd", 2_958_466.0, None),
        ("yyyy-mm-dd", -1.0, None),
        ("0;yyyy-mm-dd", -61.0, Some("1900-03-01")),
    ] {
        assert_eq!(text(code, number).as_deref(), expected, "{code} {number}");
    }
    assert_eq!(text("0\n0", 12.0).as_deref(), Some("1\n2"));
    for code in ["0 kW", "0\n0"] {
        assert!(NumberFormat::parse(code).is_err(), "cells do not accept {code:?}");
    }
}

#[test]
fn names_what_is_wrong_with_a_code_and_where() {
    use NumberFormatFault as Fault;
    let brackets = |content: &str| Fault::UnknownBrackets(content.to_owned());
    for (code, position, fault) in [
        ("", 1, Fault::Empty),
        ("nonsense", 1, Fault::UnknownLetter('n')),
        ("0 kg", 3, Fault::UnknownLetter('k')),
        ("date", 2, Fault::UnknownLetter('a')),
        ("yyyy-mm-ddThh:mmZ", 17, Fault::UnknownLetter('Z')),
        ("0.0ä\u{7}", 5, Fault::UnknownCharacter('\u{7}')),
        ("0]", 2, Fault::UnknownCharacter(']')),
        ("[foo]0", 1, brackets("foo")),
        ("[Color57]0", 1, brackets("Color57")),
        ("[>x]0", 1, brackets(">x")),
        ("[>inf]0", 1, brackets(">inf")),
        ("[]0", 1, brackets("")),
        ("[hm]", 1, brackets("hm")),
        ("0\"abc", 2, Fault::UnclosedQuote),
        ("0[", 2, Fault::UnclosedBracket),
        ("0\\", 2, Fault::MissingCharacter('\\')),
        ("0_", 2, Fault::MissingCharacter('_')),
        ("0*", 2, Fault::MissingCharacter('*')),
        ("0;0;0;@;", 8, Fault::TooManySections),
        ("[>1][<5]0", 5, Fault::SecondCondition),
        ("h:mm 0", 6, Fault::DigitInDate),
        ("yyyy.0", 1, Fault::DigitInDate),
        ("mmE+0", 3, Fault::DigitInDate),
        ("General0", 1, Fault::GeneralWithOthers),
        ("0@", 1, Fault::NotText),
        ("d General", 3, Fault::GeneralWithOthers),
        ("E+0", 1, Fault::Exponent),
        ("0E+", 2, Fault::Exponent),
        ("0 E+0", 3, Fault::Exponent),
        ("0E+0E+0", 5, Fault::Exponent),
        ("\"x\"E+", 4, Fault::Exponent),
        ("0/", 2, Fault::Fraction),
        ("0.0/0", 2, Fault::Fraction),
        ("0/0/0", 4, Fault::Fraction),
        ("0/10#", 2, Fault::Fraction),
        ("0;@0", 4, Fault::NotText),
        ("0;0;0;0", 7, Fault::NotText),
        ("0;0;0;d@", 7, Fault::NotText),
    ] {
        assert_eq!(NumberFormat::parse(code), Err(fault.at(position)), "{code}");
    }
}

#[test]
fn formats_are_bounded() {
    let parse = |code: String| NumberFormat::parse(&code).map(|_| ()).map_err(|it| it.fault);
    let quoted = |bytes: usize| parse(format!("\"{}\"", "x".repeat(bytes - 2)));
    assert_eq!(quoted(MAX_FORMAT_BYTES), Ok(()));
    let bytes = MAX_FORMAT_BYTES + 1;
    assert_eq!(quoted(bytes), Err(NumberFormatFault::TooLong { bytes }));
    let is_accepted_by_excel =
        |length: usize| NumberFormat::parse_as_excel(&"€".repeat(length)).is_ok();
    assert!(is_accepted_by_excel(MAX_FORMAT_BYTES) && !is_accepted_by_excel(bytes));

    let sections = |count: usize| parse(vec![";"; count - 1].concat());
    assert_eq!(sections(MAX_SECTIONS), Ok(()));
    assert_eq!(sections(MAX_SECTIONS + 1), Err(NumberFormatFault::TooManySections));

    let texts = |count: usize| parse("@".repeat(count));
    assert_eq!(texts(MAX_TEXT_PLACEHOLDERS), Ok(()));
    assert_eq!(texts(MAX_TEXT_PLACEHOLDERS + 1), Err(NumberFormatFault::TooManyTexts));

    let decimals = |count: usize| parse(format!("ss.{}", "0".repeat(count)));
    assert_eq!(decimals(date::MAX_SECOND_DECIMALS), Ok(()));
    let too_many = decimals(date::MAX_SECOND_DECIMALS + 1);
    assert_eq!(too_many, Err(NumberFormatFault::SecondDecimals));

    let denominator = |count: usize| parse(format!("# ?/{}", "?".repeat(count)));
    assert_eq!(denominator(fraction::MAX_DENOMINATOR_DIGITS), Ok(()));
    let too_many = denominator(fraction::MAX_DENOMINATOR_DIGITS + 1);
    assert_eq!(too_many, Err(NumberFormatFault::Fraction));

    let color = |number: u8| parse(format!("[Color{number}]0")).is_ok();
    assert_eq!([0, 1, 56, 57].map(color), [false, true, true, false]);
}

/// Codes composed of the parts of number formats, most of which are valid.
fn codes() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "0",
        "#",
        "?",
        ".",
        ",",
        "%",
        "/",
        "E+00",
        "e-0",
        " ",
        "-",
        "(",
        ")",
        "\"x\"",
        "\\;",
        "_)",
        "* ",
        "[Red]",
        "[>=1.5]",
        "[<0]",
        "[$€-407]",
        "[h]",
        "[mm]",
        "[ss]",
        "yyyy",
        "yy",
        "m",
        "mm",
        "mmm",
        "mmmmm",
        "d",
        "ddd",
        "h",
        "hh",
        "s",
        "ss",
        ".000",
        "AM/PM",
        "a/p",
        "General",
        "@",
        ";",
        "#,##0",
        "0.00",
        "# ?/?",
        "?/16",
        "1",
        "T",
        "x",
        "€",
    ]);
    prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

/// Displayed numbers have at most the digits of the number, the characters of the code, and a
/// comma for each group. Each percent sign adds two digits.
const MAX_DISPLAYED_BYTES: usize = 2_000;

proptest! {
    #[test]
    fn any_code_is_parsed_or_refused(code in "\\PC{0,60}|[0#?.,%/Ee+-;\"_*@hmsdy \\[\\]]{0,60}") {
        let as_excel = NumberFormat::parse_as_excel(&code);
        prop_assert!(as_excel.is_ok() || NumberFormat::parse(&code).is_err());
    }

    #[test]
    fn displayed_text_is_bounded(
        code in codes(),
        number in prop_oneof![any::<f64>(), -3e6..3e6, -1.0..1.0],
    ) {
        prop_assume!(number.is_finite());
        for format in [NumberFormat::parse(&code), NumberFormat::parse_as_excel(&code)] {
            let Ok(format) = format else { continue };
            prop_assert!(format.display(number).len() <= MAX_DISPLAYED_BYTES);
            prop_assert!(format.display_text("text").len() <= MAX_FORMAT_BYTES + 4 * MAX_TEXT_PLACEHOLDERS);
        }
    }

    #[test]
    fn the_longest_codes_display_bounded_text(
        part in prop::sample::select(vec!["0", "#,", "?", "%", "0,", "General", "h", "[s]", "?/?", "€"]),
        number in prop_oneof![Just(f64::MAX), Just(f64::MIN_POSITIVE), any::<f64>()],
    ) {
        prop_assume!(number.is_finite());
        let code = format!("0{}", part.repeat((MAX_FORMAT_BYTES - 1) / part.len()));
        if let Ok(format) = NumberFormat::parse(&code) {
            prop_assert!(format.display(number).len() <= MAX_DISPLAYED_BYTES, "{code}");
        }
    }

    /// Shifting the decimal point of an integer is exact.
    #[test]
    fn decimals_are_rounded_half_up(thousandths in 0_u32..1_000_000_000) {
        let number = f64::from(thousandths) / 1_000.0;
        let hundredths = (thousandths + 5) / 10;
        let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
        prop_assert_eq!(display("0.00", number), text);
    }
}
