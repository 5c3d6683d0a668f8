//! Formulas that many cells share: written once, for the first cell, and shifted for the others.

use cellar_sheet::a1::column_name;

/// Excel's sheet: references that leave it at one edge come back at the other.
const ROWS: i64 = 1_048_576;
const COLUMNS: i64 = 16_384;
const MAX_COLUMN_LETTERS: usize = 3;

/// The formula of a cell so many rows and columns from the one that `formula` was written for.
pub(super) fn shift(formula: &str, rows: i64, columns: i64) -> String {
    let mut shifted = String::with_capacity(formula.len());
    let mut rest = formula;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            '[' => bracketed(rest),
            first if is_word(first) => rest.find(|next| !is_word(next)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        let Some((token, after)) = rest.split_at_checked(length) else { break };
        let next = after.chars().next();
        let is_range = before == Some(':') || next == Some(':');
        match reference(token).filter(|_| !matches!(next, Some('(' | '!'))) {
            Some(found) if found.is_whole() || is_range => found.push(&mut shifted, rows, columns),
            _ => shifted.push_str(token),
        }
        before = token.chars().next_back();
        rest = after;
    }
    shifted
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '$' | '\\' | '?')
}

/// Bytes of a quoted text or name at the beginning of `rest`. A doubled quote ends one and begins
/// the next.
fn quoted(rest: &str, quote: char) -> usize {
    let end = rest.char_indices().skip(1).find(|(_, next)| *next == quote);
    end.map_or(rest.len(), |(at, _)| at.saturating_add(quote.len_utf8()))
}

/// Bytes of a table's or a file's part in brackets at the beginning of `rest`.
fn bracketed(rest: &str) -> usize {
    let mut depth = 0_usize;
    for (at, next) in rest.char_indices() {
        match next {
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at.saturating_add(1);
        }
    }
    rest.len()
}

/// A cell, or a column or row as one end of a range.
struct Reference {
    /// Its number from 0, and whether it is fixed.
    column: Option<(i64, bool)>,
    row: Option<(i64, bool)>,
}

fn reference(token: &str) -> Option<Reference> {
    let (column_fixed, rest) = fixed(token);
    let letters = rest.find(|next: char| !next.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (letters, rest) = rest.split_at_checked(letters)?;
    if letters.len() > MAX_COLUMN_LETTERS {
        return None;
    }
    let column = letters.bytes().fold(0_i64, |number, letter| {
        number * 26 + i64::from(letter.to_ascii_uppercase().saturating_sub(b'A')) + 1
    });
    // The `$` of `$5` has been taken for that of a column.
    let (row_fixed, digits) = if letters.is_empty() { (column_fixed, rest) } else { fixed(rest) };
    let row = match digits {
        "" => None,
        digits if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            Some(digits.parse::<i64>().ok().filter(|row| (1..=ROWS).contains(row))?)
        }
        _ => return None,
    };
    let column = (column > 0).then_some((column - 1, column_fixed));
    let row = row.map(|row| (row - 1, row_fixed));
    let sound = (column.is_some() || row.is_some())
        && column.is_none_or(|(column, _)| column < COLUMNS)
        && !(row.is_none() && rest.contains('$'));
    sound.then_some(Reference { column, row })
}

fn fixed(text: &str) -> (bool, &str) {
    match text.strip_prefix('$') {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

impl Reference {
    fn is_whole(&self) -> bool {
        self.column.is_some() && self.row.is_some()
    }

    fn push(&self, text: &mut String, rows: i64, columns: i64) {
        let moved = |(number, fixed): (i64, bool), by: i64, count: i64| {
            let number = if fixed { number } else { (number + by).rem_euclid(count) };
            (if fixed { "$" } else { "" }, number)
        };
        if let Some(column) = self.column {
            let (dollar, column) = moved(column, columns, COLUMNS);
            text.push_str(dollar);
            text.push_str(&column_name(u32::try_from(column).unwrap_or(0)));
        }
        if let Some(row) = self.row {
            let (dollar, row) = moved(row, rows, ROWS);
            text.push_str(dollar);
            text.push_str(&(row + 1).to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn references_move_and_nothing_else_does() {
        for (formula, expected) in [
            ("A1*2", "B3*2"),
            ("$A$1+A$1+$A1", "$A$1+B$1+$A3"),
            ("SUM(A1:B2,A:A,1:1,$C:D,$5:6)", "SUM(B3:C4,B:B,3:3,$C:E,$5:8)"),
            ("LOG10(A1)&\"A1 \"\"A1\"\"\"", "LOG10(B3)&\"A1 \"\"A1\"\"\""),
            ("'A1 it''s'!A1+Sheet1!A1+A1!B2", "'A1 it''s'!B3+Sheet1!B3+A1!C4"),
            ("Table1[[#This Row],[A1]]+[1]Sheet1!A1", "Table1[[#This Row],[A1]]+[1]Sheet1!B3"),
            ("1E3+TRUE+name_1+x.A1+ABCD1+A0", "1E3+TRUE+name_1+x.A1+ABCD1+A0"),
            ("XFD1048576", "A2"),
            ("Ärger+A1", "Ärger+B3"),
        ] {
            assert_eq!(shift(formula, 2, 1), expected, "{formula}");
        }
        assert_eq!(shift("A1+B2", -1, -1), "XFD1048576+A1");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[A-C$0-9:!'\"\\[\\]().]{0,20}|\\PC{0,20}", rows: i32, columns: i32) {
            let _ = shift(&text, rows.into(), columns.into());
        }
    }
}
