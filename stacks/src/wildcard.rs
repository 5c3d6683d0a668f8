//! IAM pattern matching with `*` and `?`.

/// Case sensitivity of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Case-insensitive, for actions and header names.
    Insensitive,
    /// For ARNs.
    Sensitive,
}

/// Returns whether `pattern` matches `name`, in which `*` and `?` are literal characters.
pub fn matches(pattern: &str, name: &str, case: Case) -> bool {
    glob(pattern.as_bytes(), name.as_bytes(), case, char_len)
}

/// Returns the length of the UTF-8 character that starts with byte `first`, or 0 for a continuation
/// byte.
const fn char_len(first: u8) -> usize {
    match first {
        0x80..=0xbf => 0,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    }
}

/// Returns whether `pattern` matches `name`.
///
/// After a mismatch, only the last `*` is tried again, so the running time is at most proportional
/// to the product of both lengths. `wildcard_len` receives the next byte of `name` and returns the
/// number of bytes that a `?` matches, or 0 if it does not match.
pub(crate) fn glob(pattern: &[u8], name: &[u8], case: Case, wildcard_len: fn(u8) -> usize) -> bool {
    let is_equal = |left: u8, right: u8| match case {
        Case::Insensitive => left.eq_ignore_ascii_case(&right),
        Case::Sensitive => left == right,
    };
    let (mut pattern_index, mut name_index) = (0_usize, 0_usize);
    // Position of the last `*` in the pattern, and the end of the part of `name` that it matches.
    let mut last_star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(name_index).copied() {
        match pattern.get(pattern_index).copied() {
            Some(b'*') => {
                last_star = Some((pattern_index, name_index));
                pattern_index += 1;
            }
            Some(b'?') if wildcard_len(byte) > 0 => {
                pattern_index += 1;
                name_index += wildcard_len(byte);
            }
            Some(expected) if is_equal(expected, byte) => {
                pattern_index += 1;
                name_index += 1;
            }
            _ => {
                let Some((star_index, star_end)) = last_star else { return false };
                // Backtrack: let the `*` match one more byte.
                last_star = Some((star_index, star_end + 1));
                pattern_index = star_index + 1;
                name_index = star_end + 1;
            }
        }
    }
    let rest_of_pattern = pattern.get(pattern_index..).unwrap_or_default();
    rest_of_pattern.iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_characters_of_a_name() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "anything"),
            ("a*c*e", "abcde"),
            ("a*a", "aaa"),
            ("a?", "aé"),
            ("a?c", "a€c"),
            ("*?", "é"),
            ("a?", "a*"),
            ("a?", "a?"),
            ("", ""),
        ] {
            assert!(matches(pattern, name, Case::Sensitive), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("?", ""),
            ("a?", "a"),
            ("a??", "aé"),
            ("a*c", "ab"),
            ("a*a", "a"),
            ("a", "*"),
            ("A", "a"),
            ("*??", "é"),
        ] {
            assert!(!matches(pattern, name, Case::Sensitive), "{pattern} {name}");
        }
        assert!(matches("S3:get*", "s3:GetObject", Case::Insensitive));
    }
}
