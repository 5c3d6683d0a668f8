//! Builds the next log entry of an append request from as many of its mutations as fit. First
//! transforms each mutation against the entries committed since its base.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::commit::{Committer, LaterImports};
use super::merge_request::MergedOrigin;
use super::request::{BODY_FRAME_BYTES, Payload, Request, RequestMutation, Upload};
use super::scan::{Scan, Tail};
use crate::entry::{
    BodyError, Content, Edits, Entry, ExternalEdits, Header, Merged, Mutation, encode_edits_body,
    encode_external, encoded_mutation_bytes,
};
use crate::transform::SpaceMap;
use cellar_base::limits::{
    IMPORTED_FORMULA_BYTES, MAX_BASES_PER_ENTRY, MAX_ENTRY_BODY_BYTES, MAX_MUTATIONS_PER_REQUEST,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason, SheetId};

/// Why the next entry cannot be built.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BuildError {
    Body(BodyError),
    /// A mutation of a merge cannot be transformed.
    MergeTooDistant,
}

impl From<BodyError> for BuildError {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

/// `position` directly follows `tail`.
pub(super) fn build_next_entry(
    request: &Request,
    scan: &Scan,
    tail: &Tail,
    position: Position,
    created_s: u64,
) -> Result<Entry, BuildError> {
    let content = build_next_content(request, scan, position)?;
    let body_bytes = encoded_body_bytes(position, &content)?;
    let outside_bytes =
        tail.header.outside_bytes.saturating_add(count_outside_bytes(request, &content));
    let tail_state = scan.tail_state();
    let summary = tail_state.map(|state| Arc::new(state.into_summary_after(&content)));
    Ok(Entry {
        log: request.log,
        position,
        created_s,
        author: match next_origin(request, scan) {
            Some(origin) => origin.author.clone(),
            None => request.author.clone(),
        },
        header: Header { outside_bytes, summary, ..tail.header.followed_by(body_bytes) },
        content,
    })
}

/// Returns the memory that a reader needs for data outside of the body of the entry.
fn count_outside_bytes(request: &Request, content: &Content) -> u64 {
    match (&request.payload, content) {
        (Payload::Upload(upload), Content::External(_)) => upload.weight_bytes(),
        (_, Content::Edits(edits)) => {
            let operations = edits.mutations.iter().flat_map(Mutation::committed_operations);
            let formula_counts = operations.filter_map(imported_formula_count);
            let formula_count = formula_counts.fold(0, u64::saturating_add);
            formula_count.saturating_mul(IMPORTED_FORMULA_BYTES)
        }
        _ => 0,
    }
}

fn imported_formula_count(operation: &Operation) -> Option<u64> {
    match operation {
        Operation::ImportSheet(import) => import.formulas,
        _ => None,
    }
}

/// Returns the origin of the next mutation if it is merged from a fork.
fn next_origin<'a>(request: &'a Request, scan: &Scan) -> Option<&'a MergedOrigin> {
    let (_, mutation) = request.mutations_after(scan.last_committed_id).next()?;
    mutation.origin.as_deref()
}

fn encoded_body_bytes(position: Position, content: &Content) -> Result<usize, BodyError> {
    let (_, body) = match content {
        Content::Edits(edits) => encode_edits_body(position, edits)?,
        Content::External(external) => encode_external(position, external)?,
        Content::Snapshot { .. } | Content::EndSegment => return Ok(0),
    };
    Ok(body.len())
}

fn build_next_content(
    request: &Request,
    scan: &Scan,
    position: Position,
) -> Result<Content, BuildError> {
    let committer = committer_after(scan, position);
    match &request.payload {
        Payload::Upload(upload) => match build_external_edits(request, upload, &committer) {
            Ok(external_edits) => Ok(Content::External(external_edits)),
            Err(rejection) => Ok(build_edits(request, scan, reject_all(upload, &rejection))),
        },
        Payload::Mutations(_) => {
            let mutations = build_mutations(request, scan, committer)?;
            Ok(build_edits(request, scan, mutations))
        }
    }
}

/// Commits the mutations twice if formulas of an import name sheets that later mutations import,
/// because the numbers of these are not known before.
fn build_mutations(
    request: &Request,
    scan: &Scan,
    committer: Committer,
) -> Result<Vec<Mutation>, BuildError> {
    let add_fitting = |committer: Committer| {
        let remaining_mutations = request.mutations_after(scan.last_committed_id);
        let mut builder = EntryBuilder::new(committer, next_origin(request, scan));
        builder.add_while_fitting(remaining_mutations.map(|(_, mutation)| mutation))?;
        Ok(builder.mutations)
    };
    let mut remaining_mutations = request.mutations_after(scan.last_committed_id);
    if !remaining_mutations.any(|(_, mutation)| names_later_import(&mutation.authored)) {
        return add_fitting(committer);
    }
    let mutations = add_fitting(committer.clone())?;
    let later_imports: LaterImports = mutations.iter().filter_map(imported_number).collect();
    let with_later_imports = add_fitting(committer.with_later_imports(later_imports.clone()))?;
    // The additional numbers may leave no space for the last mutations.
    let has_all = with_later_imports.iter().filter_map(imported_number).eq(later_imports);
    Ok(if has_all { with_later_imports } else { mutations })
}

fn names_later_import(operation: &Operation) -> bool {
    match operation {
        Operation::ImportSheet(import) => import.sheets.values().any(|sheet| *sheet > import.sheet),
        _ => false,
    }
}

/// Returns the number of an imported sheet as its author chose it, and as it was committed.
fn imported_number(mutation: &Mutation) -> Option<(SheetId, SheetId)> {
    match (&mutation.authored, mutation.committed_operations()) {
        (Operation::ImportSheet(authored), [Operation::ImportSheet(committed), ..]) => {
            Some((authored.sheet, committed.sheet))
        }
        _ => None,
    }
}

fn build_edits(request: &Request, scan: &Scan, mutations: Vec<Mutation>) -> Content {
    Content::Edits(Edits {
        client: request.client,
        name: request.client_name.clone(),
        merged: next_origin(request, scan).map(|origin| origin.merged.clone()),
        first_id: scan.last_committed_id.saturating_add(1),
        mutations,
    })
}

pub(super) fn oldest_needed_position(request: &Request, scan: &Scan) -> Position {
    // The mutation with the lowest base requires the oldest entry.
    let lowest_base = request.transformed_bases_after(scan.last_committed_id).min();
    lowest_base.map_or(scan.start_position, |base| scan.viewpoint.first_needed_position(base))
}

/// Returns the position of the latest known edit if the operations computed for the request are
/// outdated, because they were computed before that edit. Otherwise, returns `None`.
pub(super) fn find_edit_after_resolution(request: &Request, scan: &Scan) -> Option<Position> {
    let mut remaining_mutations = request.mutations_after(scan.last_committed_id);
    let resolution = remaining_mutations.find_map(|(_, mutation)| mutation.resolution.as_ref())?;
    // No entry before the first scanned entry is known, and any of them may be an edit. The first
    // scanned entry is therefore treated as an edit.
    let newest_edit_position = match scan.newest_edit_position {
        Some(position) => position.max(scan.start_position),
        None => scan.start_position,
    };
    if newest_edit_position > resolution.state_position { Some(newest_edit_position) } else { None }
}

fn build_external_edits(
    request: &Request,
    upload: &Upload,
    committer: &Committer,
) -> Result<ExternalEdits, Rejection> {
    let authored_edits = ExternalEdits {
        client: request.client,
        first_id: request.first_id,
        count: upload.mutation_count(),
        base: upload.base,
        object: upload.object.clone(),
        bytes: upload.bytes,
        sha256: upload.sha256,
        map: SpaceMap::default(),
    };
    committer.commit_external(authored_edits, &upload.operations)
}

fn committer_after(scan: &Scan, position: Position) -> Committer {
    let viewpoint = scan.viewpoint.clone();
    let committer = Committer::new(viewpoint, scan.start_position, position, scan.committed_bytes);
    committer.with_state(scan.tail_state()).with_tabs(scan.start_tabs())
}

fn reject_all(upload: &Upload, rejection: &Rejection) -> Vec<Mutation> {
    let rejected_mutation = Mutation {
        base: upload.base,
        authored: Operation::Rejected(rejection.clone()),
        committed: None,
    };
    vec![rejected_mutation; upload.operations.len()]
}

struct EntryBuilder<'a> {
    committer: Committer,
    origin: Option<&'a MergedOrigin>,
    mutations: Vec<Mutation>,
    body_bytes: usize,
    bases: BTreeSet<Position>,
}

impl<'a> EntryBuilder<'a> {
    fn new(committer: Committer, origin: Option<&'a MergedOrigin>) -> Self {
        let (committer, origin_bytes) = match origin {
            // The reply to a merge does not contain the committed operations.
            Some(_) => (committer.without_reply_limit(), Merged::MAX_BYTES),
            None => (committer, 0),
        };
        Self {
            committer,
            origin,
            mutations: Vec::new(),
            body_bytes: BODY_FRAME_BYTES + origin_bytes,
            bases: BTreeSet::new(),
        }
    }

    /// Commits and adds mutations until the next mutation has another origin, or would exceed
    /// `MAX_BASES_PER_ENTRY`, `MAX_MUTATIONS_PER_REQUEST` or `MAX_ENTRY_BODY_BYTES`.
    fn add_while_fitting<'m>(
        &mut self,
        mutations: impl Iterator<Item = &'m RequestMutation>,
    ) -> Result<(), BuildError> {
        for mutation in mutations.take(MAX_MUTATIONS_PER_REQUEST) {
            self.bases.insert(mutation.base);
            let has_other_origin = mutation.origin.as_deref() != self.origin;
            if self.bases.len() > MAX_BASES_PER_ENTRY || has_other_origin {
                break;
            }
            let committed_mutation = self.committer.commit(mutation);
            if self.origin.is_some() && is_too_distant(&committed_mutation) {
                return Err(BuildError::MergeTooDistant);
            }
            let mutation_bytes = encoded_mutation_bytes(&committed_mutation)?;
            let extended_body_bytes = self.body_bytes.saturating_add(mutation_bytes);
            if extended_body_bytes > MAX_ENTRY_BODY_BYTES && !self.mutations.is_empty() {
                break;
            }
            self.body_bytes = extended_body_bytes;
            self.committer.add_committed(&committed_mutation);
            self.mutations.push(committed_mutation);
        }
        Ok(())
    }
}

/// All later mutations of the fork would be rejected as well.
fn is_too_distant(mutation: &Mutation) -> bool {
    let reason = mutation.rejection().map(|rejection| rejection.reason);
    matches!(reason, Some(RejectionReason::TooFarBehind | RejectionReason::BaseGone))
}
