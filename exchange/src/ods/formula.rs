//! Converts formulas of OpenDocument files to Excel's syntax.

use crate::workbook::formula::quoted_token_bytes;

/// Converts a formula such as `of:=SUM([.A1:.B2];[$Other.A1])` to `=SUM(A1:B2,Other!A1)`. Unknown
/// syntax is left unchanged.
pub(super) fn to_excel_syntax(formula: &str) -> String {
    match formula.split_once('=') {
        Some(("" | "msoxl:", excel_formula)) => format!("={excel_formula}"),
        Some((prefix, open_formula)) if prefix.ends_with(':') => {
            format!("={}", convert_tokens(open_formula))
        }
        _ => format!("={formula}"),
    }
}

fn convert_tokens(open_formula: &str) -> String {
    let mut excel_formula = String::with_capacity(open_formula.len());
    let mut unconverted = open_formula;
    let mut in_array = false;
    while let Some(first_character) = unconverted.chars().next() {
        let token_bytes = match first_character {
            '"' | '\'' => quoted_token_bytes(unconverted, first_character),
            '[' => unconverted.find(']').map_or(unconverted.len(), |end| end + 1),
            _ => first_character.len_utf8(),
        };
        let Some((token, after_token)) = unconverted.split_at_checked(token_bytes) else { break };
        match first_character {
            '[' => excel_formula.push_str(&convert_reference(token)),
            '{' | '}' => {
                in_array = first_character == '{';
                excel_formula.push(first_character);
            }
            ';' => excel_formula.push(','),
            '|' if in_array => excel_formula.push(';'),
            _ => excel_formula.push_str(token),
        }
        unconverted = after_token;
    }
    excel_formula
}

/// Converts a reference to Excel's syntax: `[.A1:.B2]` becomes `A1:B2`, and `[$'My sheet'.A1]`
/// becomes `'My sheet'!A1`. Returns all other tokens, such as names, unchanged.
fn convert_reference(token: &str) -> String {
    let range = token.trim_start_matches('[').trim_end_matches(']');
    let mut converted_ends = Vec::new();
    for range_end in range.split(':') {
        let Some((sheet, cell)) = range_end.rsplit_once('.') else { return token.to_owned() };
        if sheet.is_empty() {
            converted_ends.push(cell.to_owned());
        } else {
            converted_ends.push(format!("{}!{cell}", sheet.trim_start_matches('$')));
        }
    }
    converted_ends.join(":")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn converts_formulas() {
        for (formula, expected) in [
            ("of:=SUM([.A1:.B2];2)", "=SUM(A1:B2,2)"),
            ("of:=[$Other.A1]+[$'My sheet'.$B$2:.C3]", "=Other!A1+'My sheet'!$B$2:C3"),
            ("of:=\"a;[.A1]\"&[.#REF!]", "=\"a;[.A1]\"&#REF!"),
            ("of:={1;2|3;4}", "={1,2;3,4}"),
            ("msoxl:=SUM(A1,B2)", "=SUM(A1,B2)"),
            ("=A1;B1", "=A1;B1"),
            ("A1", "=A1"),
            ("of:=['file:///x.ods'#$Sheet]", "=['file:///x.ods'#$Sheet]"),
        ] {
            assert_eq!(to_excel_syntax(formula), expected, "{formula}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(of:=)?[A-C$0-9:'\"\\[\\].;|{}]{0,20}|\\PC{0,20}") {
            let _ = to_excel_syntax(&text);
        }
    }
}
