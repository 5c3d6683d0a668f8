//! The type of a risk of losing data.

use std::fmt;

use serde::Serialize;

/// A risk of losing customer data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Risk {
    Removed {
        /// Whether the resource still exists in the account after it is removed from the stack.
        kept: bool,
    },
    /// An empty resource replaces a resource with data.
    Replaced {
        /// Whether CloudFormation will certainly replace the resource. If not, it may replace it.
        certain: bool,
        /// Whether the old resource still exists in the account after it is replaced.
        kept: bool,
    },
    Weakened {
        /// The name of the property or policy that protects the data.
        protection: String,
        old: String,
        new: String,
    },
    /// Data is deleted automatically that was previously retained permanently or for a longer time.
    Expires {
        /// Rule or setting that deletes the data.
        by: String,
    },
}

impl fmt::Display for Risk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed { kept: true } => {
                formatter.write_str("the resource and its data are kept, but no longer managed")
            }
            Self::Removed { kept: false } => {
                formatter.write_str("the resource and its data are deleted")
            }
            Self::Replaced { certain, kept } => {
                let certainty = if *certain { "is" } else { "may be" };
                let fate = if *kept { "kept, but no longer managed" } else { "deleted" };
                write!(
                    formatter,
                    "the resource {certainty} replaced by an empty one; the old one and its data are {fate}"
                )
            }
            Self::Weakened { protection, old, new } => {
                write!(formatter, "weaker protection: {protection} changes from {old} to {new}")
            }
            Self::Expires { by } => write!(formatter, "{by} deletes more than before"),
        }
    }
}
