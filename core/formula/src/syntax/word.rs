//! Lengths of words, spaces, quoted strings, brackets and numbers in a formula.

/// Returns the length in bytes of the word at the start of `text`, or 0 if there is none.
pub(crate) fn word_bytes(text: &str) -> usize {
    text.find(|character| !is_word_character(character)).unwrap_or(text.len())
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '$' | '\\' | '?')
}

/// Returns whether `character` can start a word. Digits are not included, because they start
/// numbers and row references, which are read separately.
pub(super) fn starts_word(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '_' | '\\' | '$')
}

/// Returns the number of spaces, tabs and line breaks at the start of `text`.
pub(super) fn space_bytes(text: &str) -> usize {
    text.bytes().take_while(|byte| is_space(*byte)).count()
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the length in bytes of the quoted string at the start of `text`, including both quotes,
/// or `None` if it is not closed. Two consecutive quotes are an escaped quote.
pub(crate) fn quoted_bytes(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        if character != quote {
            continue;
        }
        if characters.next_if(|(_, next)| *next == quote).is_none() {
            return Some(index + quote.len_utf8());
        }
    }
    None
}

/// Returns the length in bytes of the text in square brackets at the start of `text`, or `None` if
/// a bracket is not closed. Brackets can be nested, and `'` escapes the next character.
pub(super) fn bracketed_bytes(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\'' => is_escaped = true,
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Returns the length in bytes of the number at the start of `text`, or 0 if there is none.
pub(super) fn number_bytes(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let after = |length: usize| text.get(length..).unwrap_or_default();
    let integer = digits(text);
    let mut length = integer;
    if after(length).starts_with('.') {
        let fraction = digits(after(length + 1));
        if integer + fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    }
    if length == 0 || !after(length).starts_with(['e', 'E']) {
        return length;
    }
    let sign = usize::from(after(length + 1).starts_with(['+', '-']));
    let exponent = digits(after(length + 1 + sign));
    if exponent == 0 { length } else { length + 1 + sign + exponent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_end_of_numbers() {
        for (text, length) in [
            ("12", 2),
            ("1.5+", 3),
            ("5.", 2),
            (".5", 2),
            (".", 0),
            ("x", 0),
            ("1E3", 3),
            ("1e+30", 5),
            ("1E", 1),
            ("1E-", 1),
            ("1.5.2", 3),
        ] {
            assert_eq!(number_bytes(text), length, "{text}");
        }
    }

    #[test]
    fn finds_the_end_of_quotes_and_brackets() {
        assert_eq!(quoted_bytes("\"a\"\"b\"c", '"'), Some(6));
        assert_eq!(quoted_bytes("''", '\''), Some(2));
        assert_eq!(quoted_bytes("\"a\"\"", '"'), None);
        assert_eq!(bracketed_bytes("[[#This Row],[A]]x"), Some(17));
        assert_eq!(bracketed_bytes("[a'[b]"), Some(6));
        assert_eq!(bracketed_bytes("[a']"), None);
    }
}
