//! Detects the delimiter of a csv file from its start.
//!
//! A delimiter qualifies if it splits nearly all rows into as many fields as the first row, and the
//! first row into at least two. Of several, the one that fits more rows wins. Of those, commas that
//! only occur within numbers or before spaces lose, because they may be text. Then the one with more
//! fields wins, then the first of [`CANDIDATES`].

/// Number of bytes at the start of the file that are examined.
pub(super) const SAMPLE_BYTES: usize = 64 * 1024;
/// Delimiters that can be detected, in order of preference.
pub(super) const CANDIDATES: [u8; 4] = *b",;\t|";
const DEFAULT: u8 = b',';
/// Share of the rows that must have as many fields as the first row.
const MIN_MATCHING_PERCENT: usize = 90;

/// Returns a comma in doubt. `is_whole_file` states whether the last row of the sample is complete.
pub(super) fn detect_delimiter(sample: &[u8], is_whole_file: bool) -> u8 {
    let mut best: Option<(Fit, u8)> = None;
    for delimiter in CANDIDATES {
        let Some(fit) = Rows::split(sample, delimiter, is_whole_file).fit() else { continue };
        if best.is_none_or(|(best_fit, _)| fit > best_fit) {
            best = Some((fit, delimiter));
        }
    }
    best.map_or(DEFAULT, |(_, delimiter)| delimiter)
}

/// How well a delimiter fits. A later value is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    matching_percent: usize,
    /// Whether some delimiters cannot be part of a text or number.
    is_clear: bool,
    fields: usize,
}

/// Counts the rows of the sample for one delimiter.
#[derive(Debug, Default)]
struct Rows {
    rows: usize,
    /// Rows with as many fields as the first row.
    matching_rows: usize,
    first_row_fields: usize,
    is_clear: bool,
}

/// The part of a row before a byte of the sample. A quote opens a quoted field after every byte that
/// may be a delimiter, so that delimiters within the quotes do not count.
#[derive(Debug, Default)]
struct Row {
    bytes: usize,
    delimiters: usize,
    /// Whether the previous byte belongs to the same field.
    in_field: bool,
    /// Whether the field starts with a quote.
    is_quoted_field: bool,
    in_quotes: bool,
}

impl Row {
    fn add_byte(&mut self, byte: u8) {
        self.bytes += 1;
        if !self.in_quotes && CANDIDATES.contains(&byte) {
            (self.in_field, self.is_quoted_field) = (false, false);
            return;
        }
        self.is_quoted_field |= byte == b'"' && !self.in_field;
        self.in_field = true;
        // A doubled quote ends the quoted text and starts it again.
        if byte == b'"' && self.is_quoted_field {
            self.in_quotes = !self.in_quotes;
        }
    }
}

impl Rows {
    fn split(sample: &[u8], delimiter: u8, is_whole_file: bool) -> Self {
        let mut rows = Self::default();
        let mut row = Row::default();
        for (index, &byte) in sample.iter().enumerate() {
            if !row.in_quotes && matches!(byte, b'\n' | b'\r') {
                rows.add_row(&std::mem::take(&mut row));
                continue;
            }
            if !row.in_quotes && byte == delimiter {
                rows.is_clear |= is_clear_delimiter(sample, index);
                row.delimiters += 1;
            }
            row.add_byte(byte);
        }
        if is_whole_file || rows.rows == 0 {
            rows.add_row(&row);
        }
        rows
    }

    /// Ignores a blank line.
    fn add_row(&mut self, row: &Row) {
        if row.bytes == 0 {
            return;
        }
        let fields = row.delimiters + 1;
        if self.rows == 0 {
            self.first_row_fields = fields;
        }
        self.rows += 1;
        self.matching_rows += usize::from(fields == self.first_row_fields);
    }

    fn fit(&self) -> Option<Fit> {
        let matching_percent = (self.matching_rows * 100).checked_div(self.rows)?;
        let qualifies = self.first_row_fields > 1 && matching_percent >= MIN_MATCHING_PERCENT;
        let Self { is_clear, first_row_fields: fields, .. } = *self;
        qualifies.then_some(Fit { matching_percent, is_clear, fields })
    }
}

/// A comma before a space, or between two digits, may be part of a text or number.
fn is_clear_delimiter(sample: &[u8], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| sample.get(before));
    let after = sample.get(index + 1);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_comma = sample.get(index) == Some(&b',');
    !is_comma || !(after == Some(&b' ') || is_digit(before) && is_digit(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_delimiter() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\r\n1;2\r\n", b';'),
            ("a\tb\r1\t2\r", b'\t'),
            ("a|b\n1|2", b'|'),
            ("a;b", b';'),
            ("\n\na;b\n\n1;2\n\n", b';'),
            // Decimal commas, and commas in texts.
            ("name;price\ntea;1,5\nmilk;2,5\n", b';'),
            ("tea;1,5\nmilk;2,5\n", b';'),
            ("1;Doe, Ann;Paris\n2;Poe, Bo;Rome\n", b';'),
            ("1,2\n3,4\n", b','),
            ("a, b\nc, d\n", b','),
            // Delimiters in quotes do not count, nor do quotes within a field.
            ("\"a;b\",c\n\"d;e\",f\n", b','),
            ("\"a,\"\",b\";c\n\"d\";\"e,\nf\"\n", b';'),
            ("5\" pipe;a,b\nx;c\n", b';'),
            (" ,\";;\"\n", b','),
            // More fields win, and a comma in doubt.
            ("a;b,c;d\ne;f,g;h\n", b';'),
            ("a;b,c\nd;e,f\n", b','),
            ("a|b;c\nd|e;f\n", b';'),
            ("", b','),
            ("\n", b','),
            ("words\n", b','),
            ("note\na;b\nc;d\n", b','),
            ("a;b\nc\nd;e;f\n", b','),
        ] {
            assert_eq!(
                char::from(detect_delimiter(text.as_bytes(), true)),
                char::from(expected),
                "{text:?}"
            );
        }
    }

    #[test]
    fn ignores_a_row_that_the_sample_cuts() {
        assert_eq!(detect_delimiter(b"a;b;c\n1;2", false), b';');
        assert_eq!(detect_delimiter(b"a;b;c\n1;2", true), b',');
        assert_eq!(detect_delimiter(b"a;b;c", false), b';');
    }

    #[test]
    fn few_rows_may_have_other_lengths() {
        let rows = |others: usize| {
            let text = format!("{}{}", "a;b\n".repeat(100 - others), "c\n".repeat(others));
            detect_delimiter(text.as_bytes(), true)
        };
        assert_eq!(rows(100 - MIN_MATCHING_PERCENT), b';');
        assert_eq!(rows(100 - MIN_MATCHING_PERCENT + 1), b',');
    }
}
