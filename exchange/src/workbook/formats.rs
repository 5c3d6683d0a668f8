//! Converts number formats of workbooks to Cellar's number formats.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_base::limits::MAX_FORMAT_BYTES;
use cellar_sheet::cell::{GENERAL, NumberFormat};

use super::not_imported::{NotImported, Omission};

/// Number of days between day 0 of the 1900 date system and day 0 of the 1904 date system.
pub(crate) const DAYS_TO_1904: f64 = 1_462.0;

const TEXT_FORMAT: &str = "@";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Format {
    /// Format code in Cellar's syntax, or `None` for `General`.
    pub(crate) code: Option<Arc<str>>,
    pub(crate) is_date: bool,
    /// Whether the file has another date format than `code`.
    is_replaced: bool,
    /// Whether cells with this style have a font, fill, border or alignment that is not imported.
    pub(crate) is_styled: bool,
}

impl Format {
    /// A date format that Cellar cannot display, such as one with years of the Buddhist era, is replaced
    /// by a format with the same parts. All other formats, including time formats, are unchanged.
    pub(crate) fn from_code(code: &str) -> Self {
        let code_with_unquoted_t = code.replace("\"T\"", "T").replace("\\T", "T");
        let parts = find_date_parts(code);
        let converted_code = if !parts.has_date {
            code
        } else if NumberFormat::parse(&code_with_unquoted_t).is_ok() {
            &code_with_unquoted_t
        } else if NumberFormat::parse(code).is_ok() {
            code
        } else if parts.has_time {
            "yyyy-mm-dd hh:mm:ss"
        } else {
            "yyyy-mm-dd"
        };
        // Discard a code that is too long. Excel never writes such a code.
        let is_general = converted_code.is_empty()
            || converted_code.len() > MAX_FORMAT_BYTES
            || converted_code.eq_ignore_ascii_case(GENERAL)
            || converted_code == TEXT_FORMAT;
        let is_replaced = converted_code != code && converted_code != code_with_unquoted_t;
        let code = if is_general { None } else { Some(converted_code.into()) };
        Self { code, is_date: parts.has_date, is_replaced, is_styled: false }
    }

    /// Counts what is not imported of a cell with this format.
    pub(crate) fn note_cell(&self, not_imported: &mut NotImported) {
        if self.is_styled {
            not_imported.add(Omission::StyledCells, 1);
        }
        if self.is_replaced {
            not_imported.add(Omission::DateFormats, 1);
        }
    }

    /// For a built-in format, a workbook contains only the id, not the code (ECMA-376 18.8.30).
    fn built_in(id: u32) -> Self {
        Self::from_code(match id {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            5 | 37 => "#,##0;-#,##0",
            6 | 38 => "#,##0;[Red]-#,##0",
            7 | 39 => "#,##0.00;-#,##0.00",
            8 | 40 => "#,##0.00;[Red]-#,##0.00",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            12 => "# ?/?",
            13 => "# ??/??",
            // These formats depend on the language of the program.
            14 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
            15 => "d-mmm-yy",
            16 => "d-mmm",
            17 => "mmm-yy",
            18 => "h:mm AM/PM",
            19 => "h:mm:ss AM/PM",
            20 | 32 => "h:mm",
            21 | 33 => "h:mm:ss",
            22 => "yyyy-mm-dd hh:mm:ss",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            48 => "##0.0E+0",
            _ => GENERAL,
        })
    }
}

#[derive(Debug, Default)]
pub(crate) struct NumberFormats {
    by_id: BTreeMap<u32, Format>,
}

impl NumberFormats {
    pub(crate) fn insert(&mut self, id: u32, code: &str) {
        self.by_id.insert(id, Format::from_code(code));
    }

    /// If the workbook does not define the format, returns the built-in format.
    pub(crate) fn format_of(&self, id: u32) -> Format {
        self.by_id.get(&id).cloned().unwrap_or_else(|| Format::built_in(id))
    }

    pub(crate) fn count(&self) -> usize {
        self.by_id.len()
    }
}

#[derive(Default)]
struct DateParts {
    has_date: bool,
    has_time: bool,
}

/// Returns whether the first section of a format code displays a date or a time. Ignores quoted and
/// escaped text, colours and conditions.
fn find_date_parts(code: &str) -> DateParts {
    let mut parts = DateParts::default();
    let mut has_month_or_minute = false;
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            ';' => break,
            '\\' | '_' | '*' => {
                let _literal = characters.next();
            }
            '"' => {
                let _closing_quote = characters.find(|character| *character == '"');
            }
            '[' => {
                let bracketed: String =
                    characters.by_ref().take_while(|character| *character != ']').collect();
                parts.has_time |= is_elapsed_time(&bracketed);
            }
            'y' | 'Y' | 'd' | 'D' => parts.has_date = true,
            'h' | 'H' | 's' | 'S' => parts.has_time = true,
            'm' | 'M' => has_month_or_minute = true,
            // `General` and exponents display numbers rather than dates.
            'e' | 'E' | 'g' | 'G' if !parts.has_date && !parts.has_time && !has_month_or_minute => {
                return DateParts::default();
            }
            _ => {}
        }
    }
    // In a format with hours or seconds, `m` displays minutes. Otherwise, it displays the month.
    parts.has_date |= has_month_or_minute && !parts.has_time;
    parts
}

/// Returns whether the text between brackets in a format code displays elapsed time, such as `h` in
/// `[h]`.
fn is_elapsed_time(bracketed: &str) -> bool {
    let is_time_unit = |unit: char| "hms".contains(unit.to_ascii_lowercase());
    !bracketed.is_empty() && bracketed.chars().all(is_time_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_formats() {
        for (code, kept, date) in [
            ("General", None, false),
            ("", None, false),
            ("@", None, false),
            ("0.00", Some("0.00"), false),
            ("#,##0.00 \"days\"", Some("#,##0.00 \"days\""), false),
            ("[Red]0.0", Some("[Red]0.0"), false),
            ("0.00E+00", Some("0.00E+00"), false),
            ("yyyy/mm/dd", Some("yyyy/mm/dd"), true),
            ("m/d/yy", Some("m/d/yy"), true),
            ("mmm", Some("mmm"), true),
            ("[$-409]d. mmmm yyyy;@", Some("[$-409]d. mmmm yyyy;@"), true),
            ("[$-41E]d mmm bbbb", Some("yyyy-mm-dd"), true),
            ("d/m/bb h:mm", Some("yyyy-mm-dd hh:mm:ss"), true),
            ("dd.mm.yyyy hh:mm", Some("dd.mm.yyyy hh:mm"), true),
            ("m/d/yy h:mm AM/PM", Some("m/d/yy h:mm AM/PM"), true),
            ("yyyy-mm-dd\\Thh:mm:ss", Some("yyyy-mm-ddThh:mm:ss"), true),
            ("yyyy-mm-dd\"T\"hh:mm:ss", Some("yyyy-mm-ddThh:mm:ss"), true),
            ("h:mm", Some("h:mm"), false),
            ("[h]:mm:ss", Some("[h]:mm:ss"), false),
            ("0\\d", Some("0\\d"), false),
        ] {
            let format = Format::from_code(code);
            assert_eq!((format.code.as_deref(), format.is_date), (kept, date), "{code}");
        }
        assert_eq!(Format::built_in(14).code.as_deref(), Some("yyyy-mm-dd"));
        assert_eq!(Format::built_in(17).code.as_deref(), Some("mmm-yy"));
        for id in 0..=58 {
            let code = Format::built_in(id).code;
            assert!(code.is_none_or(|code| NumberFormat::parse(&code).is_ok()), "{id}");
        }
        assert_eq!(Format::built_in(9).code.as_deref(), Some("0%"));
        assert_eq!(Format::built_in(0), Format::default());
    }

    #[test]
    fn formats_end_at_their_limit() {
        let code = |bytes: usize| format!("\"{}\"0", "x".repeat(bytes - 3));
        assert!(Format::from_code(&code(MAX_FORMAT_BYTES)).code.is_some());
        assert!(Format::from_code(&code(MAX_FORMAT_BYTES + 1)).code.is_none());
    }
}
