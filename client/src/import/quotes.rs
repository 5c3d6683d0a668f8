//! Quotes that do not match: a CSV reader takes them as they come, and the rest of the file
//! silently becomes one field.

use super::ImportError;

#[derive(Clone, Copy)]
enum Within {
    FieldStart,
    Plain,
    Quoted { opened: u64 },
    ClosingQuote,
}

/// Checks that every quoted field is closed, and closed where it ends.
pub(super) fn check(text: &str, delimiter: u8) -> Result<(), ImportError> {
    let mut within = Within::FieldStart;
    let mut line = 1_u64;
    for byte in text.bytes() {
        let ends_field = byte == delimiter || byte == b'\n' || byte == b'\r';
        within = match within {
            Within::Quoted { .. } if byte == b'"' => Within::ClosingQuote,
            Within::Quoted { opened } => Within::Quoted { opened },
            Within::FieldStart if byte == b'"' => Within::Quoted { opened: line },
            // Two quotes: one quote, and the field goes on. It was opened further up, but where
            // the second half goes wrong is as good a place to look.
            Within::ClosingQuote if byte == b'"' => Within::Quoted { opened: line },
            _ if ends_field => Within::FieldStart,
            Within::ClosingQuote => return Err(ImportError::TextAfterQuote { line }),
            Within::FieldStart | Within::Plain => Within::Plain,
        };
        line = line.saturating_add(u64::from(byte == b'\n'));
    }
    match within {
        Within::Quoted { opened } => Err(ImportError::UnclosedQuote { line: opened }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_that_match_and_quotes_inside_plain_fields_are_fine() {
        for text in [
            "",
            "a,b\n",
            "\"a\",\"b\"\r\n\"c\n d\",e",
            "\"say \"\"hello\"\"\",b",
            "5\" pipe,a\"b\"",
            "\"\",\"\"\"\"\n",
        ] {
            assert!(check(text, b',').is_ok(), "{text}");
        }
        assert!(check("\"a\"\t\"b,\"\n", b'\t').is_ok());
    }

    #[test]
    fn quotes_that_do_not_match_are_found_where_they_are() {
        for (text, expected) in [("a,\"b\nc,d\n", 1), ("a\nb\n\"", 3), ("a\n\"b\n\"\"c", 3)] {
            let Err(ImportError::UnclosedQuote { line }) = check(text, b',') else {
                panic!("{text}");
            };
            assert_eq!(line, expected, "{text}");
        }
        for (text, expected) in [("\"a\"b,c", 1), ("a,\"b\nc,\"d\"\n", 2), ("\"a\" ,b", 1)] {
            let Err(ImportError::TextAfterQuote { line }) = check(text, b',') else {
                panic!("{text}");
            };
            assert_eq!(line, expected, "{text}");
        }
    }
}
