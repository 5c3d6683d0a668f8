//! Names with `*` and `?` in them, and which of them cover others.

pub(super) use crate::wildcard::Case;
use crate::wildcard::glob;

/// What a statement names: principals, actions or resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Names {
    /// These.
    Only(Vec<String>),
    /// All but these: `NotAction` and its like.
    AllBut(Vec<String>),
}

/// One element of [`Names`], or all of those that are named by what they are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    Only(&'a str),
    AllBut(&'a [String]),
}

impl Names {
    pub(super) fn one(name: impl Into<String>) -> Self {
        Self::Only(vec![name.into()])
    }

    /// How many elements there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Only(names) => names.len(),
            Self::AllBut(_) => 1,
        }
    }

    /// The elements one by one.
    pub(super) fn elements(&self) -> Vec<Name<'_>> {
        match self {
            Self::Only(names) => names.iter().map(|name| Name::Only(name)).collect(),
            Self::AllBut(names) => vec![Name::AllBut(names)],
        }
    }

    /// Whether everything that the element stands for is among these. In doubt it is not.
    pub(super) fn cover(&self, element: Name<'_>, case: Case) -> bool {
        let covers = |pattern: &String, name: &str| covers(pattern, name, case);
        match (self, element) {
            (Self::Only(patterns), Name::Only(name)) => {
                patterns.iter().any(|pattern| covers(pattern, name))
            }
            (Self::Only(patterns), Name::AllBut(_)) => patterns.iter().any(|p| p == "*"),
            // A pattern may reach into what is left out; a plain name does or does not.
            (Self::AllBut(left_out), Name::Only(name)) => {
                !name.contains(['*', '?']) && !left_out.iter().any(|pattern| covers(pattern, name))
            }
            (Self::AllBut(left_out), Name::AllBut(others)) => {
                left_out.iter().all(|name| others.iter().any(|pattern| covers(pattern, name)))
            }
        }
    }
}

impl Name<'_> {
    /// As people read it.
    pub(super) fn text(self) -> String {
        match self {
            Self::Only(name) => name.to_owned(),
            Self::AllBut(names) => format!("all but {}", names.join(", ")),
        }
    }
}

/// Whether every name that `name` stands for is one that `pattern` stands for. Of a name that is a
/// pattern itself, its own `*` is only covered by another `*`.
pub(super) fn covers(pattern: &str, name: &str, case: Case) -> bool {
    if !pattern.contains(['*', '?']) {
        return match case {
            Case::Ignored => pattern.eq_ignore_ascii_case(name),
            Case::Counts => pattern == name,
        };
    }
    // Names in AWS are ASCII; a part of another letter is none.
    let one = |letter: u8| usize::from(letter.is_ascii() && letter != b'*');
    glob(pattern.as_bytes(), name.as_bytes(), case, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_covers_what_it_stands_for() {
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
            assert!(covers(pattern, name, Case::Counts), "{pattern} {name}");
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
            assert!(!covers(pattern, name, Case::Counts), "{pattern} {name}");
        }
        assert!(covers("S3:get*", "s3:GetObject", Case::Ignored));
        assert!(!covers("S3:get*", "s3:GetObject", Case::Counts));
    }

    #[test]
    fn what_is_left_out_is_not_covered() {
        let all_but =
            |names: &[&str]| Names::AllBut(names.iter().map(|n| (*n).to_owned()).collect());
        let only = |names: &[&str]| Names::Only(names.iter().map(|n| (*n).to_owned()).collect());
        let covers = |these: &Names, those: &Names| {
            those.elements().into_iter().all(|element| these.cover(element, Case::Counts))
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
    fn long_patterns_end_soon() {
        let (pattern, name) = ("*a".repeat(2_000), "a".repeat(20_000) + "b");
        assert!(!covers(&pattern, &name, Case::Counts));
    }
}
