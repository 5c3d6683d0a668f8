//! Matches names with IAM patterns, which may contain the wildcards `*` and `?`.

/// Whether a comparison is case-sensitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// For actions and header names, in which letter case is ignored.
    Insensitive,
    /// For ARNs.
    Sensitive,
}

/// Returns whether `pattern` matches `name`. Wildcards in `name` are ordinary characters.
pub fn matches_wildcards(pattern: &str, name: &str, case: Case) -> bool {
    matches_wildcard_bytes(pattern.as_bytes(), name.as_bytes(), case, utf8_char_len)
}

/// Returns the length in bytes of the UTF-8 character that starts with the byte `first`. Returns 0
/// if no character starts with it.
const fn utf8_char_len(first: u8) -> usize {
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
/// `wildcard_len` receives the next byte of `name` and returns the number of bytes that a `?`
/// matches there, or 0 if a `?` does not match.
///
/// If a match fails, only the part that the last `*` matches is extended. The running time is
/// therefore at most proportional to the product of both lengths.
pub(crate) fn matches_wildcard_bytes(
    pattern: &[u8],
    name: &[u8],
    case: Case,
    wildcard_len: fn(u8) -> usize,
) -> bool {
    let mut pattern_index = 0;
    let mut name_index = 0;
    let mut last_star: Option<StarMatch> = None;
    while let Some(name_byte) = name.get(name_index).copied() {
        match pattern.get(pattern_index).copied() {
            Some(b'*') => {
                last_star = Some(StarMatch { star_index: pattern_index, name_end: name_index });
                pattern_index += 1;
            }
            Some(b'?') if wildcard_len(name_byte) > 0 => {
                pattern_index += 1;
                name_index += wildcard_len(name_byte);
            }
            Some(pattern_byte) if case.are_equal(pattern_byte, name_byte) => {
                pattern_index += 1;
                name_index += 1;
            }
            _ => {
                let Some(star) = &mut last_star else { return false };
                star.name_end += 1;
                pattern_index = star.star_index + 1;
                name_index = star.name_end;
            }
        }
    }
    let unmatched_pattern = pattern.get(pattern_index..).unwrap_or_default();
    unmatched_pattern.iter().all(|byte| *byte == b'*')
}

struct StarMatch {
    star_index: usize,
    /// The end of the matched part. It moves by one byte whenever the rest of the pattern does not
    /// match.
    name_end: usize,
}

impl Case {
    const fn are_equal(self, left: u8, right: u8) -> bool {
        match self {
            Self::Insensitive => left.eq_ignore_ascii_case(&right),
            Self::Sensitive => left == right,
        }
    }
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
            assert!(matches_wildcards(pattern, name, Case::Sensitive), "{pattern} {name}");
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
            assert!(!matches_wildcards(pattern, name, Case::Sensitive), "{pattern} {name}");
        }
        assert!(matches_wildcards("S3:get*", "s3:GetObject", Case::Insensitive));
    }
}
