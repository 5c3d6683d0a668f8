//! Builds the next entry of a request from as many mutations as fit. Each mutation is transformed
//! past the entries committed since its base.

use std::collections::BTreeSet;

use super::commit::Committer;
use super::request::{BODY_FRAME_BYTES, Payload, Request, RequestMutation, Upload};
use super::scan::Scan;
use crate::entry::{BodyError, Content, Edits, ExternalEdits, Mutation, encoded_mutation_bytes};
use crate::transform::SpaceMap;
use cellar_base::limits::{MAX_BASES_PER_ENTRY, MAX_ENTRY_BODY_BYTES};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Returns the content of the request's next entry, for the given `position`.
pub(super) fn build_next_content(
    request: &Request,
    scan: &Scan,
    position: Position,
) -> Result<Content, BodyError> {
    let committer = committer_after(scan, position);
    let mutations = match &request.payload {
        Payload::Upload(upload) => match build_external_edits(request, upload, &committer) {
            Ok(external) => return Ok(Content::External(external)),
            Err(rejection) => reject_all(upload, &rejection),
        },
        Payload::Mutations(_) => {
            let mut builder = EntryBuilder::new(committer);
            let remaining = request.after(scan.last_id).map(|(_, mutation)| mutation);
            builder.add_while_fitting(remaining)?;
            builder.mutations
        }
    };
    Ok(Content::Edits(Edits {
        client: request.client,
        name: request.name.clone(),
        first_id: scan.last_id.saturating_add(1),
        mutations,
    }))
}

/// Returns the position of the oldest entry that is needed to transform the remaining mutations.
pub(super) fn first_needed_position(request: &Request, scan: &Scan) -> Position {
    // The mutation with the lowest base needs the oldest entry.
    let lowest_base = request.transformed_bases_after(scan.last_id).min();
    lowest_base.map_or(scan.start, |base| scan.viewpoint.first_needed_position(base))
}

/// Returns the position of the latest known edit if it is later than the state against which the
/// request's undo or revert was resolved.
pub(super) fn find_stale_resolution(request: &Request, scan: &Scan) -> Option<Position> {
    let mut remaining = request.after(scan.last_id);
    let resolved_at = remaining.find_map(|(_, mutation)| Some(mutation.resolved.as_ref()?.at))?;
    // Entries before the first scanned entry are unknown and may be edits, so treat the first
    // scanned entry as an edit.
    let newest = scan.newest_edit.max(Some(scan.start))?;
    (newest > resolved_at).then_some(newest)
}

fn build_external_edits(
    request: &Request,
    upload: &Upload,
    committer: &Committer,
) -> Result<ExternalEdits, Rejection> {
    let authored = ExternalEdits {
        client: request.client,
        first_id: request.first_id,
        count: upload.count(),
        base: upload.base,
        object: upload.object.clone(),
        bytes: upload.bytes,
        sha256: upload.sha256,
        map: SpaceMap::default(),
    };
    committer.commit_external(authored, &upload.operations)
}

/// Creates a committer for mutations that follow the scanned entries.
fn committer_after(scan: &Scan, position: Position) -> Committer {
    let viewpoint = scan.viewpoint.clone();
    let committer = Committer::new(viewpoint, scan.start, position, scan.committed_bytes);
    committer.with_state(scan.state())
}

fn reject_all(upload: &Upload, rejection: &Rejection) -> Vec<Mutation> {
    let rejected = Mutation {
        base: upload.base,
        authored: Operation::Rejected(rejection.clone()),
        committed: None,
    };
    vec![rejected; upload.operations.len()]
}

/// Accumulates the mutations of an entry under construction.
struct EntryBuilder {
    committer: Committer,
    mutations: Vec<Mutation>,
    body_bytes: usize,
    bases: BTreeSet<Position>,
}

impl EntryBuilder {
    fn new(committer: Committer) -> Self {
        let (mutations, bases) = (Vec::new(), BTreeSet::new());
        Self { committer, mutations, body_bytes: BODY_FRAME_BYTES, bases }
    }

    /// Commits and adds mutations until the next one would exceed `MAX_BASES_PER_ENTRY` or
    /// `MAX_ENTRY_BODY_BYTES`.
    fn add_while_fitting<'m>(
        &mut self,
        mutations: impl Iterator<Item = &'m RequestMutation>,
    ) -> Result<(), BodyError> {
        for mutation in mutations {
            self.bases.insert(mutation.base);
            if self.bases.len() > MAX_BASES_PER_ENTRY {
                break;
            }
            let committed = self.committer.commit(mutation);
            let body_bytes = self.body_bytes.saturating_add(encoded_mutation_bytes(&committed)?);
            if body_bytes > MAX_ENTRY_BODY_BYTES && !self.mutations.is_empty() {
                break;
            }
            self.body_bytes = body_bytes;
            self.committer.add_committed(&committed);
            self.mutations.push(committed);
        }
        Ok(())
    }
}
