//! Rejections, which state in the log why a mutation can never succeed.

use serde::{Deserialize, Serialize};

use cellar_base::limits::MAX_REJECTION_BYTES;

/// The reason why a mutation was rejected. The mutation has no effect, but its id counts as used.
///
/// The rejection is stored in the log instead of the mutation, so that the client can continue with
/// the next mutation id. If the server only returned an error, the client would retry the mutation
/// forever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rejection {
    /// Machine-readable reason.
    pub reason: RejectionReason,
    /// Explanation for users, with a suggested correction.
    pub detail: String,
}

/// Reason why a mutation was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RejectionReason {
    /// An argument is invalid regardless of the state of the spreadsheet.
    Invalid,
    /// The mutation does not fit into an entry, either as sent or as committed.
    TooLarge,
    /// Entries after the base of the mutation no longer exist.
    BaseGone,
    /// Too many changes were committed after the base of the mutation.
    TooFarBehind,
    /// The entry to undo does not exist, or none of its effects remain.
    NothingToUndo,
    /// The position to revert to does not exist, or nothing differs from it.
    NothingToRevert,
    /// The sheet never existed or had already been deleted at the base of the mutation.
    NoSuchSheet,
    /// The number of a new sheet was already used, or is too far above the next unused number.
    SheetNumber,
    /// The spreadsheet has the maximum number of sheets.
    TooManySheets,
    /// The only sheet of a spreadsheet cannot be deleted.
    LastSheet,
    /// The sheet has the maximum number of range formats.
    TooManyFormats,
    /// The sheet that the entry imported was changed, deleted or replaced since, so the import cannot
    /// be undone as a whole.
    ChangedSince,
    /// The spreadsheet has the maximum number of names.
    TooManyNames,
}

impl RejectionReason {
    /// All reasons, ordered by the number that is stored in logs.
    const ALL: [Self; 13] = [
        Self::Invalid,
        Self::TooLarge,
        Self::BaseGone,
        Self::TooFarBehind,
        Self::NothingToUndo,
        Self::NothingToRevert,
        Self::NoSuchSheet,
        Self::SheetNumber,
        Self::TooManySheets,
        Self::LastSheet,
        Self::TooManyFormats,
        Self::ChangedSince,
        Self::TooManyNames,
    ];

    pub(super) fn number(self) -> u8 {
        let found = Self::ALL.iter().position(|reason| *reason == self);
        found.and_then(|index| u8::try_from(index).ok()).unwrap_or(0)
    }

    /// Returns the reason with this stored number, or [`Self::Invalid`] if the number is unknown.
    pub(super) fn from_number(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Invalid)
    }
}

impl Rejection {
    /// Creates a rejection. The detail is truncated to `MAX_REJECTION_BYTES`.
    #[must_use]
    pub fn new(reason: RejectionReason, detail: impl Into<String>) -> Self {
        let mut detail = detail.into();
        while detail.len() > MAX_REJECTION_BYTES {
            detail.pop();
        }
        Self { reason, detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_every_reason_and_truncates_details() {
        for reason in RejectionReason::ALL {
            assert_eq!(RejectionReason::from_number(reason.number()), reason);
        }
        let long = "ü".repeat(MAX_REJECTION_BYTES);
        let cut = Rejection::new(RejectionReason::Invalid, long).detail;
        assert_eq!(cut.len(), MAX_REJECTION_BYTES);
        let exact = "x".repeat(MAX_REJECTION_BYTES);
        assert_eq!(Rejection::new(RejectionReason::Invalid, exact.clone()).detail, exact);
    }
}
