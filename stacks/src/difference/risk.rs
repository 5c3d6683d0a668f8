//! The type of a risk for data.

use std::fmt;

use serde::Serialize;

/// A risk that customer data is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Risk {
    /// A resource that contains data is removed from the template.
    Removed {
        /// Whether the resource is kept in the account, outside of the stack.
        kept: bool,
    },
    /// A resource that contains data is replaced with an empty one.
    Replaced {
        /// Whether the replacement is certain.
        certain: bool,
        /// Whether the old resource is kept in the account, outside of the stack.
        kept: bool,
    },
    /// A protection is weakened or removed.
    Weakened {
        /// Name of the property or policy that protects the data.
        protection: String,
        old: String,
        new: String,
    },
    /// Data is deleted automatically that was previously kept, or kept for longer.
    Expires {
        /// Name of the rule or setting that deletes the data.
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
                let verb = if *certain { "is" } else { "may be" };
                let fate = if *kept { "kept, but no longer managed" } else { "deleted" };
                write!(
                    formatter,
                    "the resource {verb} replaced by an empty one; the old one and its data are {fate}"
                )
            }
            Self::Weakened { protection, old, new } => {
                write!(formatter, "weaker protection: {protection} changes from {old} to {new}")
            }
            Self::Expires { by } => write!(formatter, "{by} deletes more than before"),
        }
    }
}
