//! Postcard encoding of the bodies of `E` entries, which contain edits. A version 1 body contains
//! only mutations that were committed as authored. A version 2 body contains at least one mutation
//! that was transformed. A version 3 body contains mutations that were merged from a fork.

use serde::{Deserialize, Serialize};

use super::merged::MergedV1;
use super::{Edits, Merged, Mutation};
use cellar_base::bounded::{at_most, at_most_optional};
use cellar_base::identity::ClientKey;
use cellar_base::limits::{MAX_COMMITTED_OPERATIONS, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST};
use cellar_base::position::Position;
use cellar_base::record::RecordError;
use cellar_sheet::axis_map::UnreadableAxisMap;
use cellar_sheet::operation::{Operation, StoredOperation, UnreadableOperation};

/// Version of a body whose mutations were all committed as authored.
const AS_AUTHORED_VERSION: u64 = 1;
/// Version of a body in which at least one mutation was transformed.
const TRANSFORMED_VERSION: u64 = 2;
/// Version of a body whose mutations were merged from a fork.
const MERGED_VERSION: u64 = 3;

/// Reason why a body cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The body was written by a later release of Cellar.
    #[error(
        "the body has version {version}; this build reads versions up to {MERGED_VERSION}; \
         upgrade Cellar"
    )]
    UnknownVersion {
        /// Version of the body.
        version: u64,
    },
    /// The bytes are malformed.
    #[error("the body cannot be decoded: {0}")]
    Malformed(#[from] postcard::Error),
    /// The bytes have an invalid layout, for example trailing bytes.
    #[error("the body cannot be decoded: {0}")]
    InvalidContent(&'static str),
    /// An operation contains an out-of-range value.
    #[error("the body cannot be decoded: {0}")]
    Operation(#[from] UnreadableOperation),
    /// An axis map contains an out-of-range value.
    #[error("the body cannot be decoded: {0}")]
    AxisMap(#[from] UnreadableAxisMap),
}

#[derive(Serialize, Deserialize)]
struct EditsV1 {
    #[serde(deserialize_with = "at_most::<_, _, MAX_MUTATIONS_PER_REQUEST>")]
    mutations: Vec<MutationV1>,
}

#[derive(Serialize, Deserialize)]
struct MutationV1 {
    base: BaseV1,
    authored: StoredOperation,
    committed: Option<StoredOperation>,
}

#[derive(Serialize, Deserialize)]
struct EditsV2 {
    #[serde(deserialize_with = "at_most::<_, _, MAX_MUTATIONS_PER_REQUEST>")]
    mutations: Vec<MutationV2>,
}

#[derive(Serialize, Deserialize)]
struct EditsV3 {
    merged: MergedV1,
    edits: EditsV2,
}

#[derive(Serialize, Deserialize)]
struct MutationV2 {
    base: BaseV1,
    authored: StoredOperation,
    #[serde(deserialize_with = "at_most_optional::<_, _, MAX_COMMITTED_OPERATIONS>")]
    committed: Option<Vec<StoredOperation>>,
}

/// A base, encoded relative to the position of its entry. Most bases are only a few entries older
/// than their entry, so this encoding saves one or two bytes.
#[derive(Serialize, Deserialize)]
pub(super) struct BaseV1 {
    segments_back: u32,
    /// If the base and the entry are in the same segment, the number of entries from the base to
    /// the entry. Otherwise, the entry number of the base.
    num: u32,
}

impl BaseV1 {
    pub(super) fn relative_to(entry_position: Position, base: Position) -> Self {
        let segments_back = entry_position.segment().saturating_sub(base.segment());
        let num = match segments_back {
            0 => entry_position.entry_number().saturating_sub(base.entry_number()),
            _ => base.entry_number(),
        };
        Self { segments_back, num }
    }

    pub(super) fn to_position(&self, entry_position: Position) -> Result<Position, BodyError> {
        let invalid_base = || BodyError::InvalidContent("a base is before the start of the log");
        let segment = entry_position.segment().checked_sub(self.segments_back);
        let entry_number = match self.segments_back {
            0 => entry_position.entry_number().checked_sub(self.num),
            _ => Some(self.num),
        };
        let (Some(segment), Some(entry_number)) = (segment, entry_number) else {
            return Err(invalid_base());
        };
        Position::new(segment, entry_number).map_err(|_| invalid_base())
    }
}

impl MutationV1 {
    fn from_untransformed(entry_position: Position, mutation: &Mutation) -> Option<Self> {
        if mutation.committed.is_some() {
            return None;
        }
        let base = BaseV1::relative_to(entry_position, mutation.base);
        let authored = StoredOperation::from(&mutation.authored);
        Some(Self { base, authored, committed: None })
    }

    fn into_mutation(self, entry_position: Position) -> Result<Mutation, BodyError> {
        let committed = self.committed.map(Operation::try_from).transpose()?;
        Ok(Mutation {
            base: self.base.to_position(entry_position)?,
            authored: self.authored.try_into()?,
            committed: committed.map(|operation| vec![operation]),
        })
    }
}

impl EditsV2 {
    fn into_mutations(self, entry_position: Position) -> Result<Vec<Mutation>, BodyError> {
        let stored_mutations = self.mutations.into_iter();
        stored_mutations.map(|mutation| mutation.into_mutation(entry_position)).collect()
    }
}

impl MutationV2 {
    fn new(entry_position: Position, mutation: &Mutation) -> Self {
        Self {
            base: BaseV1::relative_to(entry_position, mutation.base),
            authored: StoredOperation::from(&mutation.authored),
            committed: mutation.committed.as_deref().map(to_stored_operations),
        }
    }

    fn into_mutation(self, entry_position: Position) -> Result<Mutation, BodyError> {
        Ok(Mutation {
            base: self.base.to_position(entry_position)?,
            authored: self.authored.try_into()?,
            committed: self.committed.map(from_stored_operations).transpose()?,
        })
    }
}

fn to_stored_operations(operations: &[Operation]) -> Vec<StoredOperation> {
    operations.iter().map(StoredOperation::from).collect()
}

fn from_stored_operations(
    operations: Vec<StoredOperation>,
) -> Result<Vec<Operation>, UnreadableOperation> {
    operations.into_iter().map(Operation::try_from).collect()
}

/// Encodes the body of the `E` entry at `position`. Returns the version and the bytes of the body.
///
/// # Errors
/// Returns an error only if the encoder fails, which never happens for these types.
pub fn encode_edits(
    position: Position,
    mutations: &[Mutation],
) -> Result<(u64, Vec<u8>), BodyError> {
    let untransformed: Option<Vec<MutationV1>> = mutations
        .iter()
        .map(|mutation| MutationV1::from_untransformed(position, mutation))
        .collect();
    if let Some(mutations) = untransformed {
        return Ok((AS_AUTHORED_VERSION, postcard::to_allocvec(&EditsV1 { mutations })?));
    }
    let mutations = mutations.iter().map(|mutation| MutationV2::new(position, mutation)).collect();
    Ok((TRANSFORMED_VERSION, postcard::to_allocvec(&EditsV2 { mutations })?))
}

/// Encodes the body of the `E` entry at `position` with all that it contains. Returns the version and
/// the bytes of the body.
///
/// # Errors
/// Returns an error only if the encoder fails, which never happens for these types.
pub fn encode_edits_body(position: Position, edits: &Edits) -> Result<(u64, Vec<u8>), BodyError> {
    let Some(merged) = &edits.merged else { return encode_edits(position, &edits.mutations) };
    let mutations = edits.mutations.iter();
    let mutations = mutations.map(|mutation| MutationV2::new(position, mutation)).collect();
    let stored = EditsV3 { merged: MergedV1::from(merged), edits: EditsV2 { mutations } };
    Ok((MERGED_VERSION, postcard::to_allocvec(&stored)?))
}

/// Returns an upper bound in bytes for the encoded size of a mutation, wherever it is put in the
/// log.
///
/// # Errors
/// Returns an error only if the encoder fails, which never happens for these types.
pub fn encoded_mutation_bytes(mutation: &Mutation) -> Result<usize, BodyError> {
    const LONGEST_BASE_BYTES: usize = 10;
    let with_shortest_base = MutationV2::new(mutation.base, mutation);
    Ok(postcard::to_allocvec(&with_shortest_base)?.len() + LONGEST_BASE_BYTES)
}

/// Decodes the body of the `E` entry at `position`. Never panics on malformed bytes.
///
/// # Errors
/// Returns a [`BodyError`] if the bytes are not a valid body.
pub fn decode_edits(
    version: u64,
    position: Position,
    client: ClientKey,
    first_id: u64,
    body: &[u8],
) -> Result<Edits, BodyError> {
    let (merged, mutations) = decode_mutations(version, position, body)?;
    if mutations.is_empty() {
        return Err(BodyError::InvalidContent("it has no mutations"));
    }
    check_mutation_ids(first_id, u64::try_from(mutations.len()).unwrap_or(u64::MAX))?;
    Ok(Edits { client, name: None, merged, first_id, mutations })
}

fn decode_mutations(
    version: u64,
    entry_position: Position,
    body: &[u8],
) -> Result<(Option<Merged>, Vec<Mutation>), BodyError> {
    match version {
        AS_AUTHORED_VERSION => {
            let stored: EditsV1 = decode_whole(body)?;
            let stored_mutations = stored.mutations.into_iter();
            let mutations = stored_mutations.map(|mutation| mutation.into_mutation(entry_position));
            Ok((None, mutations.collect::<Result<_, _>>()?))
        }
        TRANSFORMED_VERSION => {
            let stored: EditsV2 = decode_whole(body)?;
            Ok((None, stored.into_mutations(entry_position)?))
        }
        MERGED_VERSION => {
            let EditsV3 { merged, edits } = decode_whole(body)?;
            Ok((Some(merged.try_into()?), edits.into_mutations(entry_position)?))
        }
        unknown_version => Err(BodyError::UnknownVersion { version: unknown_version }),
    }
}

pub(super) fn decode_whole<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, BodyError> {
    let (decoded, trailing_bytes) = postcard::take_from_bytes::<T>(body)?;
    if !trailing_bytes.is_empty() {
        return Err(BodyError::InvalidContent("there are bytes after its end"));
    }
    Ok(decoded)
}

pub(super) fn check_mutation_ids(first_id: u64, count: u64) -> Result<(), BodyError> {
    let end_id = first_id.saturating_add(count);
    if first_id == 0 || end_id > MAX_MUTATION_ID + 1 {
        return Err(BodyError::InvalidContent("mutation ids are out of range"));
    }
    Ok(())
}

impl From<BodyError> for RecordError {
    fn from(error: BodyError) -> Self {
        Self::Body { what: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

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
    fn bodies_round_trip_at_any_position() {
        let client = ClientKey([7; 8]);
        let as_other = |committed| Mutation { committed: Some(committed), ..mutation() };
        let twice = vec![mutation().authored; 2];
        for (committed, version) in [(None, 1), (Some(vec![]), 2), (Some(twice), 2)] {
            let second = committed.map_or_else(mutation, as_other);
            let mutations = vec![mutation(), second];
            for position in [at(0, 8), at(0, u32::MAX), at(1, 0), at(9, 3)] {
                let (written, body) = encode_edits(position, &mutations).unwrap();
                assert_eq!(written, version);
                let edits = decode_edits(version, position, client, 5, &body).unwrap();
                assert_eq!(
                    edits,
                    Edits {
                        client,
                        name: None,
                        merged: None,
                        first_id: 5,
                        mutations: mutations.clone()
                    }
                );
                assert_eq!(edits.last_id(), 6);
            }
        }
    }

    #[test]
    fn reads_a_transformed_mutation_of_version_1() {
        let base = BaseV1::relative_to(at(0, 8), at(0, 7));
        let stored = StoredOperation::from(&mutation().authored);
        let authored = stored.clone();
        let body =
            EditsV1 { mutations: vec![MutationV1 { base, authored, committed: Some(stored) }] };
        let bytes = postcard::to_allocvec(&body).unwrap();
        let edits = decode_edits(1, at(0, 8), ClientKey([7; 8]), 1, &bytes).unwrap();
        assert_eq!(edits.mutations[0].committed, Some(vec![mutation().authored]));
    }

    #[test]
    fn limits_the_committed_operations_of_a_mutation() {
        let client = ClientKey([7; 8]);
        let read = |count| {
            let nothing = Operation::InsertRows(cellar_sheet::operation::InsertBefore {
                sheet: SheetId::FIRST,
                before: 0,
                count: 1,
            });
            let mutation = Mutation { committed: Some(vec![nothing; count]), ..mutation() };
            let (version, body) = encode_edits(at(0, 8), &[mutation]).unwrap();
            decode_edits(version, at(0, 8), client, 1, &body)
        };
        assert!(read(MAX_COMMITTED_OPERATIONS).is_ok());
        assert!(read(MAX_COMMITTED_OPERATIONS + 1).is_err());
    }

    #[test]
    fn limits_the_mutations_of_a_body() {
        let moved = |count| vec![Mutation { committed: Some(vec![]), ..mutation() }; count];
        for (count, fits) in
            [(MAX_MUTATIONS_PER_REQUEST, true), (MAX_MUTATIONS_PER_REQUEST + 1, false)]
        {
            for mutations in [vec![mutation(); count], moved(count)] {
                let (version, body) = encode_edits(at(0, 8), &mutations).unwrap();
                let read = decode_edits(version, at(0, 8), ClientKey([7; 8]), 1, &body);
                assert_eq!(read.is_ok(), fits, "version {version}");
            }
        }
    }

    #[test]
    fn the_bound_of_a_mutation_is_never_below_its_size() {
        for position in [at(0, 8), at(0, u32::MAX), at(1, 0), at((1 << 21) - 1, 3)] {
            let (_, body) = encode_edits(position, &[mutation()]).unwrap();
            assert!(body.len() <= 1 + encoded_mutation_bytes(&mutation()).unwrap());
        }
    }

    #[test]
    fn rejects_bytes_that_are_not_a_body() {
        let (_, body) = encode_edits(at(0, 8), &[mutation()]).unwrap();
        let client = ClientKey([7; 8]);
        let cut = &body[..body.len() - 1];
        let long = [body.as_slice(), &[0]].concat();
        for (version, bytes) in [(3, body.as_slice()), (1, cut), (1, &long), (1, &[0]), (1, &[])] {
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
