//! Converts number formats to Excel's syntax. Excel reports a file with an invalid number format as
//! damaged.

/// Maximum number of sections in a number format: one each for positive numbers, negative numbers,
/// zero and text.
const MAX_SECTIONS: usize = 4;

/// Returns `None` if Excel would reject the format.
pub(super) fn to_excel_code(code: &str) -> Option<String> {
    // Excel requires a backslash before the literal `T` between date and time.
    let excel_code = code.replace("ddT", "dd\\T");
    if is_supported_code(&excel_code) { Some(excel_code) } else { None }
}

/// Does not check that the elements can be combined.
fn is_supported_code(code: &str) -> bool {
    let mut unchecked_code = code;
    while !unchecked_code.is_empty() {
        match skip_supported_element(unchecked_code) {
            Some(after_element) => unchecked_code = after_element,
            None => return false,
        }
    }
    !code.is_empty() && code.split(';').count() <= MAX_SECTIONS
}

fn skip_supported_element(code: &str) -> Option<&str> {
    const WORDS: [&str; 3] = ["General", "AM/PM", "A/P"];
    for word in WORDS {
        if let Some(after_word) = code.strip_prefix(word) {
            return Some(after_word);
        }
    }
    let mut characters = code.chars();
    let is_supported = match characters.next()? {
        // These characters must be followed by another character, which they display, skip or
        // repeat.
        '\\' | '_' | '*' => characters.next().is_some(),
        '"' => characters.any(|character| character == '"'),
        '[' => characters.any(|character| character == ']'),
        ']' => false,
        letter if letter.is_ascii_alphabetic() => "yYmMdDhHsSeE".contains(letter),
        other_character => !other_character.is_control(),
    };
    if is_supported { Some(characters.as_str()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_valid_formats_and_rejects_others() {
        for code in
            ["0.00", "#,##0.00 \"kg\"", "[Red]-0;\\x0", "h:mm AM/PM", "General", "0%", "yyyy-mm-dd"]
        {
            assert_eq!(to_excel_code(code).as_deref(), Some(code));
        }
        assert_eq!(to_excel_code("yyyy-mm-ddThh:mm:ss").as_deref(), Some("yyyy-mm-dd\\Thh:mm:ss"));
        for code in ["", "pieces", "0\"open", "[Red", "0\\", "0;0;0;0;0", "0\u{1}", "]"] {
            assert_eq!(to_excel_code(code), None, "{code}");
        }
    }
}
