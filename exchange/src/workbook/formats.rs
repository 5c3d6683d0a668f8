//! Number formats as workbooks have them, and as they are kept.

use std::sync::Arc;

use cellar_base::limits::MAX_FORMAT_BYTES;
use cellar_sheet::cell::{GENERAL, Value, display, general};

/// Days between the incarnations of workbooks that count from 1904 and of all others.
pub(crate) const DAYS_TO_1904: f64 = 1_462.0;

/// A number format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Format {
    /// The code that is kept; `None` is `General`.
    pub(crate) code: Option<Arc<str>>,
    /// Numbers under it are dates.
    pub(crate) date: bool,
}

impl Format {
    /// A format from its code. Dates that are not shown as such here become dates that are, with the
    /// same parts; times of day, and everything else, keep their code.
    pub(crate) fn of(code: &str) -> Self {
        let plain = code.replace("\"T\"", "T").replace("\\T", "T");
        let code = if shown(&plain) { &plain } else { code };
        let parts = parts(code);
        let date = parts.date || parts.time;
        let kept = match (parts.date, parts.time) {
            _ if shown(code) => code,
            (true, false) => "yyyy-mm-dd",
            (true, true) => "yyyy-mm-dd hh:mm:ss",
            (false, _) => code,
        };
        // Longer ones cannot be kept, and Excel has none.
        let general = kept.is_empty()
            || kept.len() > MAX_FORMAT_BYTES
            || kept.eq_ignore_ascii_case(GENERAL)
            || kept == "@";
        Self { code: (!general).then(|| kept.into()), date: date && parts.date }
    }

    /// One of the formats that have a number and no code in the file (ECMA-376 18.8.30).
    pub(crate) fn built_in(number: u32) -> Self {
        Self::of(match number {
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
            14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
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

/// Whether dates under a format are shown as dates here.
fn shown(code: &str) -> bool {
    const SOME_DAY: f64 = 45_000.25;
    code != GENERAL
        && code.contains(['y', 'd'])
        && display(&Value::Number(SOME_DAY), code) != general(SOME_DAY)
}

#[derive(Default)]
struct Parts {
    date: bool,
    time: bool,
}

/// Which parts of a date a format shows: its first section, without quoted and escaped text, colours
/// and conditions.
fn parts(code: &str) -> Parts {
    let mut parts = Parts::default();
    let mut months = false;
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            ';' => break,
            '\\' | '_' | '*' => drop(characters.next()),
            '"' => drop(characters.by_ref().find(|end| *end == '"')),
            '[' => {
                let inner: String = characters.by_ref().take_while(|end| *end != ']').collect();
                let lower = inner.to_ascii_lowercase();
                let elapsed = !lower.is_empty() && lower.chars().all(|unit| "hms".contains(unit));
                parts.time |= elapsed;
            }
            'y' | 'Y' | 'd' | 'D' => parts.date = true,
            'h' | 'H' | 's' | 'S' => parts.time = true,
            'm' | 'M' => months = true,
            // `General`, or an exponent.
            'e' | 'E' | 'g' | 'G' if !parts.date && !parts.time && !months => {
                return Parts::default();
            }
            _ => {}
        }
    }
    // `m` alone, as in `mmm`, is months; beside hours or seconds it is minutes.
    parts.date |= months && !parts.time;
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_they_are_kept() {
        for (code, kept, date) in [
            ("General", None, false),
            ("", None, false),
            ("@", None, false),
            ("0.00", Some("0.00"), false),
            ("#,##0.00 \"days\"", Some("#,##0.00 \"days\""), false),
            ("[Red]0.0", Some("[Red]0.0"), false),
            ("0.00E+00", Some("0.00E+00"), false),
            ("yyyy/mm/dd", Some("yyyy/mm/dd"), true),
            ("m/d/yy", Some("yyyy-mm-dd"), true),
            ("mmm", Some("yyyy-mm-dd"), true),
            ("[$-409]d. mmmm yyyy;@", Some("yyyy-mm-dd"), true),
            ("dd.mm.yyyy hh:mm", Some("dd.mm.yyyy hh:mm"), true),
            ("m/d/yy h:mm AM/PM", Some("yyyy-mm-dd hh:mm:ss"), true),
            ("yyyy-mm-dd\\Thh:mm:ss", Some("yyyy-mm-ddThh:mm:ss"), true),
            ("yyyy-mm-dd\"T\"hh:mm:ss", Some("yyyy-mm-ddThh:mm:ss"), true),
            ("h:mm", Some("h:mm"), false),
            ("[h]:mm:ss", Some("[h]:mm:ss"), false),
            ("0\\d", Some("0\\d"), false),
        ] {
            let format = Format::of(code);
            assert_eq!((format.code.as_deref(), format.date), (kept, date), "{code}");
        }
        assert_eq!(Format::built_in(14).code.as_deref(), Some("yyyy-mm-dd"));
        assert_eq!(Format::built_in(9).code.as_deref(), Some("0%"));
        assert_eq!(Format::built_in(0), Format::default());
    }

    #[test]
    fn formats_end_at_their_limit() {
        let code = |bytes: usize| format!("\"{}\"0", "x".repeat(bytes - 3));
        assert!(Format::of(&code(MAX_FORMAT_BYTES)).code.is_some());
        assert!(Format::of(&code(MAX_FORMAT_BYTES + 1)).code.is_none());
    }
}
