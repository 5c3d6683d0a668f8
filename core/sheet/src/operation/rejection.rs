//! Mutations that can never succeed.

use serde::{Deserialize, Serialize};

use cellar_base::limits::MAX_REJECTION_BYTES;

/// Why a mutation changed nothing. It stands in the log instead of the mutation, so that its
/// client's numbering goes on; an error would be retried for ever (design `4-sync.md` §3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rejection {
    /// The kind of reason, for programs.
    pub reason: RejectionReason,
    /// What was wrong and what to do, for people.
    pub detail: String,
}

/// The kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RejectionReason {
    /// An argument that no state of the spreadsheet allows.
    Invalid,
    /// It does not fit an entry, as authored or as it would have been committed.
    TooLarge,
    /// The entries after its base are gone.
    BaseGone,
    /// Too much has changed since its base.
    TooFarBehind,
    /// The entry to take back does not exist, or changed nothing that is still there.
    NothingToUndo,
    /// The position to revert does not exist, or nothing has changed since.
    NothingToRevert,
    /// The sheet never was, or was deleted before its base.
    NoSuchSheet,
    /// The number of a new sheet was used before, or is too far above all that were.
    SheetNumber,
    /// The spreadsheet has as many sheets as are allowed.
    TooManySheets,
    /// The last sheet of a spreadsheet stays.
    LastSheet,
    /// The sheet has as many formats of ranges as are allowed.
    TooManyFormats,
}

impl RejectionReason {
    /// All of them, by the number they are stored as.
    const ALL: [Self; 11] = [
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
    ];

    /// The number it is stored as.
    pub(super) fn number(self) -> u8 {
        let found = Self::ALL.iter().position(|reason| *reason == self);
        found.and_then(|index| u8::try_from(index).ok()).unwrap_or(0)
    }

    /// The reason stored as a number; one of a later version is shown as [`Self::Invalid`].
    pub(super) fn from_number(number: u8) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Invalid)
    }
}

impl Rejection {
    /// A rejection; a detail of more than `MAX_REJECTION_BYTES` is cut.
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
    fn every_reason_reads_back_and_details_are_bounded() {
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
