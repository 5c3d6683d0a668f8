//! Phases of the append state machine.

use std::sync::Arc;

use super::Refusal;
use crate::entry::Entry;
use cellar_base::consistency::ReadConsistency;
use cellar_base::position::Position;
use cellar_base::variant_names;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    Reading {
        from: Position,
        consistency: ReadConsistency,
    },
    /// Before the machine refuses an append because an entry is missing, it checks whether the
    /// segment of the entry was trimmed.
    CheckingTrim {
        refusal: Refusal,
    },
    FindingNewestSegment,
    ReadingState {
        position: Position,
    },
    Putting {
        entry: Arc<Entry>,
    },
    WaitingToRead {
        from: Position,
        consistency: ReadConsistency,
    },
    WaitingToPut {
        entry: Arc<Entry>,
    },
    Finished,
}

variant_names!(Phase {
    Reading,
    CheckingTrim,
    FindingNewestSegment,
    ReadingState,
    Putting,
    WaitingToRead,
    WaitingToPut,
    Finished,
});
