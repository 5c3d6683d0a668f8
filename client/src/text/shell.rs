//! Names in shell commands that the user can copy.

use super::escape;

/// Returns a name as one argument of a shell command.
pub(crate) fn shell_quoted(name: &str) -> String {
    let escaped_name = escape(name);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_safe_unquoted = !escaped_name.is_empty()
        && escaped_name.bytes().all(is_plain)
        && !escaped_name.starts_with('-');
    if is_safe_unquoted {
        return escaped_name;
    }
    format!("'{}'", escaped_name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_names_only_if_necessary() {
        for (name, expected) in
            [("Costs", "Costs"), ("My costs", "'My costs'"), ("it's", "'it'\\''s'"), ("-x", "'-x'")]
        {
            assert_eq!(shell_quoted(name), expected);
        }
    }
}
