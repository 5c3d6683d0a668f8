//! Bodies of `E` entries: postcard, version 1.

use serde::{Deserialize, Serialize};

use super::{Edits, Mutation};
use crate::identity::ClientKey;
use crate::limits::MAX_MUTATION_ID;
use crate::operation::{StoredOperation, UnreadableOperation};
use crate::position::Position;

/// The version that is written.
const EDITS_VERSION: u64 = 1;

/// A body that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// A version of a later Cellar.
    #[error("the body has version {version}, this build reads up to {EDITS_VERSION}: upgrade it")]
    UnknownVersion {
        /// The version of the body.
        version: u64,
    },
    /// Bytes that are no body.
    #[error("the body does not decode: {0}")]
    Malformed(#[from] postcard::Error),
    /// Bytes behind the body, or none of the mutations it should have.
    #[error("the body does not decode: {0}")]
    Shape(&'static str),
    /// An operation that is out of range.
    #[error("the body does not decode: {0}")]
    Operation(#[from] UnreadableOperation),
}

#[derive(Serialize, Deserialize)]
struct EditsV1 {
    mutations: Vec<MutationV1>,
}

#[derive(Serialize, Deserialize)]
struct MutationV1 {
    base: BaseV1,
    authored: StoredOperation,
    committed: Option<StoredOperation>,
}

/// A base as the distance from the entry: most are a few entries back, which takes one byte less
/// than a position and one less again in a long segment.
#[derive(Serialize, Deserialize)]
struct BaseV1 {
    segments_back: u32,
    /// Entries back in the same segment; the entry's number in an earlier one.
    num: u32,
}

impl BaseV1 {
    fn new(entry: Position, base: Position) -> Self {
        let segments_back = entry.segment().saturating_sub(base.segment());
        let num = match segments_back {
            0 => entry.num().saturating_sub(base.num()),
            _ => base.num(),
        };
        Self { segments_back, num }
    }

    fn position(&self, entry: Position) -> Result<Position, BodyError> {
        let fault = || BodyError::Shape("a base is before the beginning");
        let segment = entry.segment().checked_sub(self.segments_back).ok_or_else(fault)?;
        let num = match self.segments_back {
            0 => entry.num().checked_sub(self.num).ok_or_else(fault)?,
            _ => self.num,
        };
        Position::new(segment, num).map_err(|_| fault())
    }
}

impl MutationV1 {
    fn new(entry: Position, mutation: &Mutation) -> Self {
        Self {
            base: BaseV1::new(entry, mutation.base),
            authored: StoredOperation::from(&mutation.authored),
            committed: mutation.committed.as_ref().map(StoredOperation::from),
        }
    }
}

/// The body of the `E` entry at `position`.
///
/// # Errors
/// Only if the encoder fails, which it does not for these types.
pub fn encode_edits(position: Position, mutations: &[Mutation]) -> Result<Vec<u8>, BodyError> {
    let stored = |mutation| MutationV1::new(position, mutation);
    let body = EditsV1 { mutations: mutations.iter().map(stored).collect() };
    Ok(postcard::to_allocvec(&body)?)
}

/// Bytes that one mutation adds to a body at most, wherever the entry will stand.
///
/// # Errors
/// Only if the encoder fails, which it does not for these types.
pub fn encoded_mutation_bytes(mutation: &Mutation) -> Result<usize, BodyError> {
    const LONGEST_BASE_BYTES: usize = 10;
    let at_its_base = MutationV1::new(mutation.base, mutation);
    Ok(postcard::to_allocvec(&at_its_base)?.len() + LONGEST_BASE_BYTES)
}

/// Reads the body of an `E` entry; total: any bytes give edits or an error.
///
/// # Errors
/// [`BodyError`] with what is wrong.
pub fn decode_edits(
    version: u64,
    position: Position,
    client: ClientKey,
    first_id: u64,
    body: &[u8],
) -> Result<Edits, BodyError> {
    if version != EDITS_VERSION {
        return Err(BodyError::UnknownVersion { version });
    }
    let (decoded, rest) = postcard::take_from_bytes::<EditsV1>(body)?;
    if !rest.is_empty() {
        return Err(BodyError::Shape("there are bytes behind it"));
    }
    if decoded.mutations.is_empty() {
        return Err(BodyError::Shape("it has no mutations"));
    }
    let count = u64::try_from(decoded.mutations.len()).unwrap_or(u64::MAX);
    if first_id == 0 || first_id.saturating_add(count) > MAX_MUTATION_ID.saturating_add(1) {
        return Err(BodyError::Shape("its mutations have ids out of range"));
    }
    let mutations = decoded.mutations.into_iter().map(|stored| {
        Ok(Mutation {
            base: stored.base.position(position)?,
            authored: stored.authored.try_into()?,
            committed: stored.committed.map(TryInto::try_into).transpose()?,
        })
    });
    Ok(Edits { client, first_id, mutations: mutations.collect::<Result<_, BodyError>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Value;
    use crate::operation::{CellEdit, Operation, SetCells, SheetId};

    fn mutation() -> Mutation {
        let edit = CellEdit {
            row: 1,
            column: 1,
            value: Some(Value::Text("new".into())),
            formula: None,
            format: None,
        };
        let authored = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] });
        Mutation { base: Position::new(0, 7).unwrap(), authored, committed: None }
    }

    fn at(segment: u32, num: u32) -> Position {
        Position::new(segment, num).unwrap()
    }

    #[test]
    fn a_body_reads_back_wherever_it_stands() {
        let committed = Some(mutation().authored);
        let mutations = vec![mutation(), Mutation { committed, ..mutation() }];
        let client = ClientKey([7; 8]);
        for position in [at(0, 8), at(0, u32::MAX), at(1, 0), at(9, 3)] {
            let body = encode_edits(position, &mutations).unwrap();
            let edits = decode_edits(1, position, client, 5, &body).unwrap();
            assert_eq!(edits, Edits { client, first_id: 5, mutations: mutations.clone() });
            assert_eq!(edits.last_id(), 6);
        }
    }

    #[test]
    fn the_parts_are_never_less_than_the_body() {
        for position in [at(0, 8), at(0, u32::MAX), at(1, 0), at((1 << 21) - 1, 3)] {
            let body = encode_edits(position, &[mutation()]).unwrap();
            assert!(body.len() <= 1 + encoded_mutation_bytes(&mutation()).unwrap());
        }
    }

    #[test]
    fn what_is_no_body_is_an_error() {
        let body = encode_edits(at(0, 8), &[mutation()]).unwrap();
        let client = ClientKey([7; 8]);
        let cut = &body[..body.len() - 1];
        let long = [body.as_slice(), &[0]].concat();
        for (version, bytes) in [(2, body.as_slice()), (1, cut), (1, &long), (1, &[0]), (1, &[])] {
            assert!(decode_edits(version, at(0, 8), client, 1, bytes).is_err());
        }
        for (first_id, good) in [(0, false), (MAX_MUTATION_ID, true), (MAX_MUTATION_ID + 1, false)]
        {
            let read = decode_edits(1, at(0, 8), client, first_id, &body);
            assert_eq!(read.is_ok(), good, "{first_id}");
        }
        assert!(decode_edits(1, at(0, 8), client, u64::MAX, &body).is_err());
        assert!(decode_edits(1, at(0, 0), client, 1, &body).is_err(), "a base before the first");
    }
}
