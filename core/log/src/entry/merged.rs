//! The origin of edits that were merged from a fork.

use serde::{Deserialize, Serialize};

use super::BodyError;
use cellar_base::bounded::at_most_optional;
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_AUTHOR_BYTES;
use cellar_base::position::Position;

/// Where merged edits were made, and who merged them. The author of their entry is the author of the
/// edits; its time is that of the merge, so that the times of a log ascend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The fork in which the edits were made.
    pub fork: LogId,
    /// Position of their entry in the fork.
    pub position: Position,
    /// Time at which they were made, in seconds since the Unix epoch.
    pub created_s: u64,
    /// Person who merged them: the `sub` claim of the token.
    pub by: Option<String>,
    /// Position of the fork up to which its edits were merged together. All entries with the same fork
    /// and this position are undone together.
    pub through: Position,
    /// A position before the first of these entries.
    pub after: Position,
}

impl Merged {
    /// Upper bound on the encoded size, in bytes.
    pub(crate) const MAX_BYTES: usize = 16 + 4 * 10 + 2 + MAX_AUTHOR_BYTES;

    /// Whether both entries are undone together.
    #[must_use]
    pub fn is_same_merge(&self, other: &Self) -> bool {
        (self.fork, self.through) == (other.fork, other.through)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct MergedV1 {
    fork: [u8; 16],
    position: u64,
    created_s: u64,
    #[serde(deserialize_with = "at_most_optional::<_, _, MAX_AUTHOR_BYTES>")]
    by: Option<Vec<u8>>,
    through: u64,
    after: u64,
}

impl From<&Merged> for MergedV1 {
    fn from(merged: &Merged) -> Self {
        Self {
            fork: *merged.fork.as_bytes(),
            position: merged.position.pack(),
            created_s: merged.created_s,
            by: merged.by.as_ref().map(|by| by.as_bytes().to_vec()),
            through: merged.through.pack(),
            after: merged.after.pack(),
        }
    }
}

impl TryFrom<MergedV1> for Merged {
    type Error = BodyError;

    fn try_from(stored: MergedV1) -> Result<Self, BodyError> {
        let position = |packed| {
            Position::unpack(packed)
                .map_err(|_| BodyError::InvalidContent("a position of the merge is out of range"))
        };
        let by = stored.by.map(String::from_utf8).transpose();
        Ok(Self {
            fork: LogId::from_uuid(uuid::Uuid::from_bytes(stored.fork)),
            position: position(stored.position)?,
            created_s: stored.created_s,
            by: by.map_err(|_| BodyError::InvalidContent("the name of a person is not UTF-8"))?,
            through: position(stored.through)?,
            after: position(stored.after)?,
        })
    }
}
