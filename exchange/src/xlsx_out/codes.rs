//! Number formats that Excel takes: with one that it does not, it calls the whole file damaged.

/// The code for Excel; `None` if Excel would not take it.
pub(super) fn for_excel(code: &str) -> Option<String> {
    // The letter between date and time is no part of a date to Excel.
    let code = code.replace("ddT", "dd\\T");
    is_sound(&code).then_some(code)
}

/// Whether a code consists of parts that Excel knows. It need not make sense.
fn is_sound(code: &str) -> bool {
    const WORDS: [&str; 3] = ["General", "AM/PM", "A/P"];
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = WORDS.iter().find_map(|word| rest.strip_prefix(word)) {
            rest = after;
            continue;
        }
        let mut behind = rest.chars();
        behind.next();
        let whole = match first {
            // The character behind is shown, skipped, or repeated.
            '\\' | '_' | '*' => behind.next().is_some(),
            '"' => behind.any(|end| end == '"'),
            '[' => behind.any(|end| end == ']'),
            first if first.is_ascii_alphabetic() => "yYmMdDhHsSeE".contains(first),
            ']' => false,
            first => !first.is_control(),
        };
        if !whole {
            return false;
        }
        rest = behind.as_str();
    }
    // Positive, negative, zero, text.
    !code.is_empty() && code.matches(';').count() < 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        for code in
            ["0.00", "#,##0.00 \"kg\"", "[Red]-0;\\x0", "h:mm AM/PM", "General", "0%", "yyyy-mm-dd"]
        {
            assert_eq!(for_excel(code).as_deref(), Some(code));
        }
        assert_eq!(for_excel("yyyy-mm-ddThh:mm:ss").as_deref(), Some("yyyy-mm-dd\\Thh:mm:ss"));
        for code in ["", "pieces", "0\"open", "[Red", "0\\", "0;0;0;0;0", "0\u{1}", "]"] {
            assert_eq!(for_excel(code), None, "{code}");
        }
    }
}
