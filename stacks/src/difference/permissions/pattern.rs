//! Names and patterns of names in policy statements. Determines whether one pattern covers another.

pub(super) use crate::wildcard::Case;
use crate::wildcard::matches_wildcard_bytes;

/// The principals, actions or resources of a statement. A name may contain the wildcards `*` and
/// `?`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Names {
    Only(Vec<String>),
    /// All names except the listed names, as in a `NotAction` field.
    AllBut(Vec<String>),
}

/// An element of [`Names`]. All excluded names together are one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    Only(&'a str),
    AllBut(&'a [String]),
}

impl Names {
    pub(super) fn single(name: impl Into<String>) -> Self {
        Self::Only(vec![name.into()])
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Only(names) => names.len(),
            Self::AllBut(_) => 1,
        }
    }

    pub(super) fn elements(&self) -> Vec<Name<'_>> {
        match self {
            Self::Only(names) => names.iter().map(|name| Name::Only(name)).collect(),
            Self::AllBut(names) => vec![Name::AllBut(names)],
        }
    }

    /// Returns whether these names cover everything that `element` matches. If this cannot be
    /// determined, returns `false`.
    pub(super) fn cover(&self, element: Name<'_>, case: Case) -> bool {
        let is_covered_by_any = |name: &str, patterns: &[String]| {
            patterns.iter().any(|pattern| covers(pattern, name, case))
        };
        match (self, element) {
            (Self::Only(patterns), Name::Only(name)) => is_covered_by_any(name, patterns),
            (Self::Only(patterns), Name::AllBut(_)) => {
                patterns.iter().any(|pattern| pattern == "*")
            }
            (Self::AllBut(excluded), Name::Only(name)) => {
                // A name with wildcards could match an excluded name.
                let has_wildcards = name.contains(['*', '?']);
                !has_wildcards && !is_covered_by_any(name, excluded)
            }
            (Self::AllBut(excluded), Name::AllBut(other_excluded)) => {
                excluded.iter().all(|name| is_covered_by_any(name, other_excluded))
            }
        }
    }
}

impl Name<'_> {
    pub(super) fn text(self) -> String {
        match self {
            Self::Only(name) => name.to_owned(),
            Self::AllBut(names) => format!("all but {}", names.join(", ")),
        }
    }
}

/// Returns whether `pattern` matches everything that `name` matches. A `*` in `name` is covered
/// only by a `*` in `pattern`.
pub(super) fn covers(pattern: &str, name: &str, case: Case) -> bool {
    if !pattern.contains(['*', '?']) {
        return match case {
            Case::Insensitive => pattern.eq_ignore_ascii_case(name),
            Case::Sensitive => pattern == name,
        };
    }
    // AWS names are ASCII, so a `?` need not match a multi-byte character.
    let wildcard_len = |byte: u8| usize::from(byte.is_ascii() && byte != b'*');
    matches_wildcard_bytes(pattern.as_bytes(), name.as_bytes(), case, wildcard_len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_covers_what_it_matches() {
        for (pattern, name) in [
            ("*", "anything"),
            ("*", "*"),
            ("s3:*", "s3:Get*"),
            ("s3:Get*", "s3:GetObject"),
            ("s3:G?tObject", "s3:GetObject"),
            ("${Bucket.Arn}/*", "${Bucket.Arn}/sheets/*"),
            ("a*c*e", "abcde"),
            ("a*", "a"),
            ("a", "a"),
        ] {
            assert!(covers(pattern, name, Case::Sensitive), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("s3:Get*", "s3:*"),
            ("s3:GetObject", "s3:Get*"),
            ("s3:Get?", "s3:Get*"),
            ("${Bucket.Arn}/*", "${Bucket.Arn}"),
            ("a*c", "ab"),
            ("a", "b"),
            ("", "a"),
            ("a?", "a"),
            ("a??", "aé"),
        ] {
            assert!(!covers(pattern, name, Case::Sensitive), "{pattern} {name}");
        }
        assert!(covers("S3:get*", "s3:GetObject", Case::Insensitive));
        assert!(!covers("S3:get*", "s3:GetObject", Case::Sensitive));
    }

    #[test]
    fn excluded_names_are_not_covered() {
        let all_but =
            |names: &[&str]| Names::AllBut(names.iter().map(|n| (*n).to_owned()).collect());
        let only = |names: &[&str]| Names::Only(names.iter().map(|n| (*n).to_owned()).collect());
        let covers = |these: &Names, those: &Names| {
            those.elements().into_iter().all(|element| these.cover(element, Case::Sensitive))
        };
        assert!(covers(&all_but(&["b"]), &only(&["a"])));
        assert!(!covers(&all_but(&["b*"]), &only(&["bc"])));
        assert!(!covers(&all_but(&["b"]), &only(&["*"])));
        assert!(covers(&all_but(&["b"]), &all_but(&["b", "c"])));
        assert!(!covers(&all_but(&["b", "c"]), &all_but(&["b"])));
        assert!(covers(&only(&["*"]), &all_but(&["b"])));
        assert!(!covers(&only(&["b"]), &all_but(&["c"])));
    }

    #[test]
    fn long_patterns_are_matched_fast() {
        let (pattern, name) = ("*a".repeat(2_000), "a".repeat(20_000) + "b");
        assert!(!covers(&pattern, &name, Case::Sensitive));
    }
}
