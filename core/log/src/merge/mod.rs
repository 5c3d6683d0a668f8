//! Rules for merging a fork: appending its edits to another log of its family.

mod conflicts;
mod split;
#[cfg(test)]
mod tests;

pub use conflicts::{Conflicts, OtherChanges};
pub use split::split_operation;

use serde::{Deserialize, Serialize};

use crate::append::MutationResult;

/// Outcome of merging an edit of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MergeOutcome {
    /// The edit has the same effect as in the fork.
    Unchanged,
    /// The edit was adapted because its target was moved or partly deleted.
    Moved,
    /// The edit has no effect because its target was deleted.
    Dropped,
    /// The edit can never have an effect, at least in part.
    Rejected,
}

impl MergeOutcome {
    /// Determines the outcome of an edit from the results of its mutations.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a MutationResult>) -> Self {
        let (mut is_changed, mut has_effect) = (false, false);
        for result in results {
            if result.rejection.is_some() {
                return Self::Rejected;
            }
            let is_dropped = result.no_effect;
            is_changed |= is_dropped || result.committed.is_some();
            has_effect |= !is_dropped;
        }
        match (is_changed, has_effect) {
            (false, _) => Self::Unchanged,
            (true, true) => Self::Moved,
            (true, false) => Self::Dropped,
        }
    }
}
