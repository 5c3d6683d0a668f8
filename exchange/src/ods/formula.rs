//! Formulas: from OpenFormula's way of writing to the one that everybody else has.

/// `of:=SUM([.A1:.B2];[$Other.A1])` as `=SUM(A1:B2,Other!A1)`. What is not understood stays as it is.
pub(super) fn plain(formula: &str) -> String {
    let (prefix, body) = match formula.split_once('=') {
        Some((prefix, body)) if prefix.is_empty() || prefix.ends_with(':') => (prefix, body),
        _ => ("", formula),
    };
    let mut text = String::with_capacity(formula.len());
    text.push('=');
    // Excel's own way of writing.
    if prefix == "msoxl:" || prefix.is_empty() {
        text.push_str(body);
        return text;
    }
    let mut rest = body;
    let mut in_array = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            '[' => rest.find(']').map_or(rest.len(), |end| end.saturating_add(1)),
            first => first.len_utf8(),
        };
        let Some((token, after)) = rest.split_at_checked(length) else { break };
        match first {
            '[' => reference(token, &mut text),
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

fn quoted(rest: &str, quote: char) -> usize {
    let end = rest.char_indices().skip(1).find(|(_, next)| *next == quote);
    end.map_or(rest.len(), |(at, _)| at.saturating_add(quote.len_utf8()))
}

/// `[.A1:.B2]` as `A1:B2`, `[$'My sheet'.A1]` as `'My sheet'!A1`.
fn reference(token: &str, text: &mut String) {
    let inner = token.trim_start_matches('[').trim_end_matches(']');
    let mut plain = String::new();
    for (index, end) in inner.split(':').enumerate() {
        let Some((sheet, cell)) = end.rsplit_once('.') else {
            // A file, perhaps, or a name.
            text.push_str(token);
            return;
        };
        if index > 0 {
            plain.push(':');
        }
        if !sheet.is_empty() {
            plain.push_str(sheet.trim_start_matches('$'));
            plain.push('!');
        }
        plain.push_str(cell);
    }
    text.push_str(&plain);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas() {
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
            assert_eq!(plain(formula), expected, "{formula}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(of:=)?[A-C$0-9:'\"\\[\\].;|{}]{0,20}|\\PC{0,20}") {
            let _ = plain(&text);
        }
    }
}
