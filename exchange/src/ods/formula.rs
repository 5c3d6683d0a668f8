//! Converts OpenFormula formulas to Excel syntax.

/// Converts a formula such as `of:=SUM([.A1:.B2];[$Other.A1])` to `=SUM(A1:B2,Other!A1)`. Unknown
/// syntax is left unchanged.
pub(super) fn to_excel_syntax(formula: &str) -> String {
    let (namespace, body) = match formula.split_once('=') {
        Some((prefix, body)) if prefix.is_empty() || prefix.ends_with(':') => (prefix, body),
        _ => ("", formula),
    };
    let mut text = String::with_capacity(formula.len());
    text.push('=');
    let has_excel_syntax = namespace == "msoxl:" || namespace.is_empty();
    if has_excel_syntax {
        text.push_str(body);
        return text;
    }
    let mut rest = body;
    let mut in_array = false;
    while let Some(first) = rest.chars().next() {
        let token_bytes = match first {
            '"' | '\'' => quoted_bytes(rest, first),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            first => first.len_utf8(),
        };
        let Some((token, after)) = rest.split_at_checked(token_bytes) else { break };
        match first {
            '[' => push_reference(token, &mut text),
            '{' | '}' => {
                in_array = first == '{';
                text.push(first);
            }
            ';' => text.push(','),
            '|' if in_array => text.push(';'),
            _ => text.push_str(token),
        }
        rest = after;
    }
    text
}

/// Returns the length of the quoted text or name at the start of `rest`. A text with a doubled
/// quote counts as two quoted texts.
fn quoted_bytes(rest: &str, quote: char) -> usize {
    let end = rest.char_indices().skip(1).find(|(_, next)| *next == quote);
    end.map_or(rest.len(), |(index, _)| index + quote.len_utf8())
}

/// Converts a reference and appends it to `text`: `[.A1:.B2]` becomes `A1:B2`, and `[$'My
/// sheet'.A1]` becomes `'My sheet'!A1`.
fn push_reference(token: &str, text: &mut String) {
    let inner = token.trim_start_matches('[').trim_end_matches(']');
    let mut converted = String::new();
    for (index, range_end) in inner.split(':').enumerate() {
        let Some((sheet, cell)) = range_end.rsplit_once('.') else {
            // Not a cell reference, but for example a file or a name.
            text.push_str(token);
            return;
        };
        if index > 0 {
            converted.push(':');
        }
        if !sheet.is_empty() {
            converted.push_str(sheet.trim_start_matches('$'));
            converted.push('!');
        }
        converted.push_str(cell);
    }
    text.push_str(&converted);
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
