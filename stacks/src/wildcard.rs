//! Names with `*` and `?` in them, as policies of IAM have them.

/// Whether upper and lower case are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// As in actions and headers.
    Ignored,
    /// As in ARNs.
    Counts,
}

/// Whether a pattern stands for this very name, in which `*` and `?` are letters like others.
pub fn matches(pattern: &str, name: &str, case: Case) -> bool {
    glob(pattern.as_bytes(), name.as_bytes(), case, letter_bytes)
}

/// Bytes of the letter that begins with this one; 0 within a letter.
const fn letter_bytes(first: u8) -> usize {
    match first {
        0x80..=0xbf => 0,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    }
}

/// Goes back to the last `*` only, so that no pattern takes more than its length times the name's. How many
/// bytes a `?` takes is said of the first of them; 0 if it does not stand for that.
pub(crate) fn glob(pattern: &[u8], name: &[u8], case: Case, one: fn(u8) -> usize) -> bool {
    let is_same = |one: u8, other: u8| match case {
        Case::Ignored => one.eq_ignore_ascii_case(&other),
        Case::Counts => one == other,
    };
    let (mut at_pattern, mut at_name) = (0_usize, 0_usize);
    let mut star: Option<(usize, usize)> = None;
    while let Some(letter) = name.get(at_name).copied() {
        match pattern.get(at_pattern).copied() {
            Some(b'*') => {
                star = Some((at_pattern, at_name));
                at_pattern += 1;
            }
            Some(b'?') if one(letter) > 0 => {
                at_pattern += 1;
                at_name += one(letter);
            }
            Some(own) if is_same(own, letter) => {
                at_pattern += 1;
                at_name += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at_pattern = star_at + 1;
                at_name = taken + 1;
            }
        }
    }
    pattern.get(at_pattern..).unwrap_or_default().iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_letters_of_a_name() {
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
            assert!(matches(pattern, name, Case::Counts), "{pattern} {name}");
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
            assert!(!matches(pattern, name, Case::Counts), "{pattern} {name}");
        }
        assert!(matches("S3:get*", "s3:GetObject", Case::Ignored));
    }
}
