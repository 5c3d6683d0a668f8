//! Bodies of `E` entries: postcard, version 1.

use serde::{Deserialize, Serialize};

use super::{Edits, Mutation};
use crate::identity::ClientKey;
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
    base: Position,
    authored: StoredOperation,
    committed: Option<StoredOperation>,
}

impl From<&Mutation> for MutationV1 {
    fn from(mutation: &Mutation) -> Self {
        Self {
            base: mutation.base,
            authored: StoredOperation::from(&mutation.authored),
            committed: mutation.committed.as_ref().map(StoredOperation::from),
        }
    }
}

/// The body of an `E` entry.
///
/// # Errors
/// Only if the encoder fails, which it does not for these types.
pub fn encode_edits(mutations: &[Mutation]) -> Result<Vec<u8>, BodyError> {
    let body = EditsV1 { mutations: mutations.iter().map(MutationV1::from).collect() };
    Ok(postcard::to_allocvec(&body)?)
}

/// Bytes that one mutation adds to a body.
///
/// # Errors
/// Only if the encoder fails, which it does not for these types.
pub fn encoded_mutation_bytes(mutation: &Mutation) -> Result<usize, BodyError> {
    Ok(postcard::to_allocvec(&MutationV1::from(mutation))?.len())
}

/// Reads the body of an `E` entry; total: any bytes give edits or an error.
///
/// # Errors
/// [`BodyError`] with what is wrong.
pub fn decode_edits(
    version: u64,
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
    let mutations = decoded.mutations.into_iter().map(|stored| {
        Ok(Mutation {
            base: stored.base,
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

    #[test]
    fn a_body_reads_back() {
        let mutations =
            vec![mutation(), Mutation { committed: Some(mutation().authored), ..mutation() }];
        let body = encode_edits(&mutations).unwrap();
        let client = ClientKey([7; 8]);
        let edits = decode_edits(1, client, 5, &body).unwrap();
        assert_eq!(edits, Edits { client, first_id: 5, mutations });
        assert_eq!(edits.last_id(), 6);
    }

    #[test]
    fn the_parts_add_up_to_the_body() {
        let one = encode_edits(&[mutation()]).unwrap().len();
        assert_eq!(one, 1 + encoded_mutation_bytes(&mutation()).unwrap());
    }

    #[test]
    fn what_is_no_body_is_an_error() {
        let body = encode_edits(&[mutation()]).unwrap();
        let client = ClientKey([7; 8]);
        let cut = &body[..body.len() - 1];
        let long = [body.as_slice(), &[0]].concat();
        for (version, bytes) in [(2, body.as_slice()), (1, cut), (1, &long), (1, &[0]), (1, &[])] {
            assert!(decode_edits(version, client, 1, bytes).is_err());
        }
    }
}
