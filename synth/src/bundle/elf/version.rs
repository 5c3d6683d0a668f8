//! Versions of libraries.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    pub(super) const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor, patch: 0 }
    }

    /// Parses two or three numbers separated by dots. Returns `None` for any other string.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| part.parse().ok());
        let (major, minor) = (parts.next()??, parts.next()??);
        let patch = match parts.next() {
            Some(patch) => patch?,
            None => 0,
        };
        parts.next().is_none().then_some(Self { major, minor, patch })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)?;
        match self.patch {
            0 => Ok(()),
            patch => write!(formatter, ".{patch}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let parse = |text| Version::parse(text).unwrap();
        assert!(parse("2.4") < parse("2.34"));
        assert!(parse("2.2.5") < parse("2.3"));
        assert!(parse("2.34") < parse("2.34.1"));
        assert_eq!(parse("2.34"), Version::new(2, 34));
    }

    #[test]
    fn formatting_reverses_parsing() {
        for text in ["2.34", "2.2.5", "3.0"] {
            assert_eq!(Version::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "2", "2.", ".2", "2.x", "2.34.5.6", "PRIVATE", "2.99999999999"] {
            assert_eq!(Version::parse(bad), None, "{bad}");
        }
    }
}
