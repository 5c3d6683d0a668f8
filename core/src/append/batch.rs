//! The next entry of a request: as many mutations as fit, each past what was committed since its
//! base (design `2-log.md` §2 step 3).

use std::collections::BTreeSet;

use super::request::{
    BODY_FRAME_BYTES, Payload, Request, RequestMutation, Resolved, Upload, too_large,
};
use super::scan::{Scan, operations_bytes};
use crate::entry::{
    BodyError, Content, Edits, ExternalEdits, Mutation, encode_external, encoded_mutation_bytes,
};
use crate::limits::{
    MAX_BASES_PER_ENTRY, MAX_COMMITTED_OPERATIONS, MAX_ENTRY_BODY_BYTES, MAX_MOVED_SHEETS,
    MAX_REPLY_BYTES, MAX_SPANS,
};
use crate::operation::{Operation, Rejection, RejectionReason};
use crate::position::Position;
use crate::transform::{Author, SpaceMap, transform};

/// The content of the entry that is to stand at `position`.
pub(super) fn next_content(
    request: &Request,
    scan: &Scan,
    position: Position,
) -> Result<Content, BodyError> {
    let (client, first_id) = (request.client, scan.last_id.saturating_add(1));
    let mutations = match &request.payload {
        Payload::Upload(upload) => match external(request, scan, upload, position) {
            Ok(external) => return Ok(Content::External(external)),
            Err(rejection) => reject_all(upload, &rejection),
        },
        Payload::Mutations(_) => Batch::new(scan, position).take(request.after(scan.last_id))?,
    };
    let name = request.name.clone();
    Ok(Content::Edits(Edits { client, name, first_id, mutations }))
}

/// The oldest entry that has to be known to transform what is left of the request.
pub(super) fn needed_from(request: &Request, scan: &Scan) -> Position {
    // Who needs less than the lowest base, needs less than any other.
    let lowest = request.moved_bases_after(scan.last_id).min();
    lowest.map_or(scan.start, |lowest| scan.author.needed_from(lowest))
}

/// The newest edit that is known, if an undo was resolved without it.
pub(super) fn stale_undo(request: &Request, scan: &Scan) -> Option<Position> {
    let mut left = request.after(scan.last_id);
    let at = left.find_map(|(_, mutation)| Some(mutation.resolved.as_ref()?.at))?;
    // What stands before the first entry that was learned cannot be told.
    let newest = scan.newest_edit.max(Some(scan.start))?;
    (newest > at).then_some(newest)
}

fn external(
    request: &Request,
    scan: &Scan,
    upload: &Upload,
    position: Position,
) -> Result<ExternalEdits, Rejection> {
    let map = space(&scan.author, scan.start, upload.base)?;
    // What is stored are kept runs.
    if map.sheets().any(|(_, map)| !map.rows.keeps_order() || !map.columns.keeps_order()) {
        return Err(too_far_behind());
    }
    let external = ExternalEdits {
        client: request.client,
        first_id: request.first_id,
        count: upload.count,
        base: upload.base,
        object: upload.object.clone(),
        bytes: upload.bytes,
        sha256: upload.sha256,
        map: map.of_cells(),
    };
    let encoded = encode_external(position, &external).map_or(usize::MAX, |(_, body)| body.len());
    if encoded > MAX_ENTRY_BODY_BYTES || external.map.sheets().count() > MAX_MOVED_SHEETS {
        return Err(too_far_behind());
    }
    Ok(external)
}

fn reject_all(upload: &Upload, rejection: &Rejection) -> Vec<Mutation> {
    let rejected = Mutation {
        base: upload.base,
        authored: Operation::Rejected(rejection.clone()),
        committed: None,
    };
    (0..upload.count).map(|_| rejected.clone()).collect()
}

/// The map from the author's space behind `base`.
fn space(author: &Author, start: Position, base: Position) -> Result<SpaceMap, Rejection> {
    known_from(author.needed_from(base), start)?;
    let map = author.map(base).map_err(|_| too_far_behind())?;
    if map.is_too_long() { Err(too_far_behind()) } else { Ok(map) }
}

/// Whether the entries behind `needed` are known.
fn known_from(needed: Position, start: Position) -> Result<(), Rejection> {
    if needed >= start {
        return Ok(());
    }
    let detail = "the entries after its base are gone: load the spreadsheet again";
    Err(Rejection::new(RejectionReason::BaseGone, detail))
}

fn too_far_behind() -> Rejection {
    let detail = "too many rows, columns or sheets have moved since its base: load the \
                  spreadsheet and do it again";
    Rejection::new(RejectionReason::TooFarBehind, detail)
}

/// Mutations that will stand in one entry.
struct Batch {
    author: Author,
    start: Position,
    position: Position,
    mutations: Vec<Mutation>,
    bytes: usize,
    bases: BTreeSet<Position>,
    /// About how many bytes the committed operations of the whole request take in its reply.
    committed_bytes: usize,
    /// The base of the last mutation, and the map from behind it.
    map: Option<(Position, SpaceMap)>,
}

impl Batch {
    fn new(scan: &Scan, position: Position) -> Self {
        Self {
            author: scan.author.clone(),
            start: scan.start,
            position,
            mutations: Vec::new(),
            bytes: BODY_FRAME_BYTES,
            bases: BTreeSet::new(),
            committed_bytes: scan.committed_bytes,
            map: None,
        }
    }

    /// As many of the mutations as fit.
    fn take<'m>(
        mut self,
        mutations: impl Iterator<Item = (u64, &'m RequestMutation)>,
    ) -> Result<Vec<Mutation>, BodyError> {
        for (_, mutation) in mutations {
            self.bases.insert(mutation.base);
            if self.bases.len() > MAX_BASES_PER_ENTRY {
                break;
            }
            let committed = self.commit(mutation);
            let bytes = self.bytes.saturating_add(encoded_mutation_bytes(&committed)?);
            if bytes > MAX_ENTRY_BODY_BYTES && !self.mutations.is_empty() {
                break;
            }
            self.bytes = bytes;
            self.follow(&committed);
            self.mutations.push(committed);
        }
        Ok(self.mutations)
    }

    /// What a mutation is committed as; if that does not fit, it is rejected.
    fn commit(&mut self, mutation: &RequestMutation) -> Mutation {
        let RequestMutation { base, authored, resolved } = mutation;
        let committed = match (authored, resolved) {
            (Operation::Rejected(_), _) => Ok(None),
            (Operation::Undo(undo), resolved) => undone(undo.position, resolved.as_ref()).map(Some),
            (authored, _) => self.moved(*base, authored),
        };
        let rejected = |rejection| Mutation::rejected(*base, authored, rejection);
        match committed {
            Err(rejection) => rejected(rejection),
            Ok(committed) => {
                let whole = Mutation { base: *base, authored: authored.clone(), committed };
                let too_much = too_many_parts(&whole)
                    .or_else(|| too_large_undo(&whole))
                    .or_else(|| too_large(&whole))
                    .or_else(|| self.too_large_together(&whole));
                match too_much {
                    Some(rejection) => rejected(rejection),
                    None => whole,
                }
            }
        }
    }

    fn moved(
        &mut self,
        base: Position,
        authored: &Operation,
    ) -> Result<Option<Vec<Operation>>, Rejection> {
        let known = self.map.take().filter(|(of, _)| *of == base);
        let (_, map) = match known {
            Some(known) => known,
            None => (base, space(&self.author, self.start, base)?),
        };
        let committed = transform(authored, &map);
        self.map = Some((base, map));
        Ok(committed)
    }

    /// What the whole request is committed as goes into one reply.
    fn too_large_together(&mut self, mutation: &Mutation) -> Option<Rejection> {
        let bytes = mutation.committed.as_deref().map_or(0, operations_bytes);
        let together = self.committed_bytes.saturating_add(bytes);
        if together > MAX_REPLY_BYTES && self.committed_bytes > 0 {
            let detail = "with the others of its request it falls into too many parts: do it alone";
            return Some(Rejection::new(RejectionReason::TooLarge, detail));
        }
        self.committed_bytes = together;
        None
    }

    fn follow(&mut self, mutation: &Mutation) {
        if let Some((_, map)) = &mut self.map {
            match mutation.authored {
                // What an undo does is not known to whoever asks for it.
                Operation::Undo(_) => mutation.effective().iter().for_each(|o| map.follow(o)),
                _ => map.follow_own(&mutation.authored, mutation.effective()),
            }
        }
        let (authored, committed) = (&mutation.authored, mutation.effective());
        self.author.commit(self.position, mutation.base, authored, committed);
    }
}

/// What an undo was resolved to: on the very state behind which it is put.
fn undone(target: Position, resolved: Option<&Resolved>) -> Result<Vec<Operation>, Rejection> {
    let operations = resolved.map_or(&[][..], |resolved| resolved.operations.as_slice());
    if operations.is_empty() {
        let detail = format!("nothing of what {target} did is still there");
        return Err(Rejection::new(RejectionReason::NothingToUndo, detail));
    }
    Ok(operations.to_vec())
}

/// Why an undo does not fit an entry: it cannot be split.
fn too_large_undo(mutation: &Mutation) -> Option<Rejection> {
    let undo = matches!(mutation.authored, Operation::Undo(_));
    too_large(mutation).filter(|_| undo).map(|_| {
        let detail = "what it takes back is too large for one entry: read it at an earlier \
                      position and set it again";
        Rejection::new(RejectionReason::TooLarge, detail)
    })
}

/// Why what a mutation was split into is more than any entry holds.
fn too_many_parts(mutation: &Mutation) -> Option<Rejection> {
    let committed = mutation.committed.as_ref()?;
    let spans = |operation: &Operation| match operation {
        Operation::ClearRange(clear) => clear.rows.len().max(clear.columns.len()),
        Operation::SetFormat(set) => set.rows.len().max(set.columns.len()),
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => delete.spans.len(),
        _ => 0,
    };
    let split = committed.iter().map(spans).max().unwrap_or(0) > MAX_SPANS;
    (split || committed.len() > MAX_COMMITTED_OPERATIONS).then(|| {
        let detail = "it falls into too many parts: do it in several steps";
        Rejection::new(RejectionReason::TooLarge, detail)
    })
}
