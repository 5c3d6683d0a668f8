//! The name and region of a stack in the description of its template. A comparison of two templates
//! shows by them that a deployment would create another stack.

use std::fmt;

use crate::config::Config;

const DESCRIPTION: &str = "Cellar: self-hosted spreadsheet backend";

/// The name of a stack, and its region if the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackPlace {
    /// Name of the stack.
    pub name: String,
    /// Region of the stack, such as `eu-central-1`.
    pub region: Option<String>,
}

impl StackPlace {
    pub(super) fn of(config: &Config) -> Self {
        Self { name: config.stack.clone(), region: config.region.clone() }
    }

    /// Returns the description of the template.
    pub(super) fn describe(&self) -> String {
        format!("{DESCRIPTION} (stack {self})")
    }

    /// Reads the description of a template. Returns `None` if it names no stack, as in older releases.
    #[must_use]
    pub fn in_description(description: &str) -> Option<Self> {
        let place = description.strip_prefix(DESCRIPTION)?;
        let place = place.strip_prefix(" (stack ")?.strip_suffix(')')?;
        let (name, region) = match place.split_once(" in ") {
            Some((name, region)) => (name, Some(region.to_owned())),
            None => (place, None),
        };
        Some(Self { name: name.to_owned(), region })
    }

    /// Returns whether a deployment to the other place would create another stack. A region that is not
    /// named may be the same.
    #[must_use]
    pub fn is_another(&self, other: &Self) -> bool {
        let regions = self.region.as_ref().zip(other.region.as_ref());
        self.name != other.name || regions.is_some_and(|(region, other)| region != other)
    }
}

impl fmt::Display for StackPlace {
    /// Writes the name and the region, such as `cellar in eu-central-1`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        match &self.region {
            Some(region) => write!(formatter, " in {region}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, region: Option<&str>) -> StackPlace {
        StackPlace { name: name.to_owned(), region: region.map(str::to_owned) }
    }

    #[test]
    fn a_place_reads_back_from_its_description() {
        for place in [place("cellar", None), place("books-2", Some("eu-central-1"))] {
            assert_eq!(StackPlace::in_description(&place.describe()), Some(place));
        }
        for other in ["", DESCRIPTION, "Cellar: self-hosted spreadsheet backend (stack a"] {
            assert_eq!(StackPlace::in_description(other), None, "{other}");
        }
    }

    #[test]
    fn another_name_or_region_is_another_stack() {
        let cellar = place("cellar", None);
        let here = place("cellar", Some("eu-central-1"));
        for (other, is_another) in [
            (place("books", None), true),
            (place("cellar", Some("us-east-1")), true),
            (cellar.clone(), false),
            (here.clone(), false),
        ] {
            assert_eq!(here.is_another(&other), is_another, "{other:?}");
        }
        assert!(!cellar.is_another(&place("cellar", Some("us-east-1"))));
    }
}
