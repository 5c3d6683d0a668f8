//! Builds the next entry of a request: as many mutations as fit, each transformed past the entries committed
//! since its base.

use std::collections::BTreeSet;

use super::commit::Committer;
use super::request::{BODY_FRAME_BYTES, Payload, Request, RequestMutation, Upload};
use super::scan::Scan;
use crate::entry::{BodyError, Content, Edits, ExternalEdits, Mutation, encoded_mutation_bytes};
use crate::transform::SpaceMap;
use cellar_base::limits::{MAX_BASES_PER_ENTRY, MAX_ENTRY_BODY_BYTES};
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection};

/// Returns the content of the entry at `position`.
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

/// Returns the oldest position that is needed to transform the remaining mutations.
pub(super) fn needed_from(request: &Request, scan: &Scan) -> Position {
    // A mutation that needs an entry before the lowest base needs the oldest entry of all.
    let lowest = request.moved_bases_after(scan.last_id).min();
    lowest.map_or(scan.start, |lowest| scan.viewpoint.first_needed_position(lowest))
}

/// Returns the newest known edit, if it makes the resolution of a mutation stale.
pub(super) fn stale_resolution(request: &Request, scan: &Scan) -> Option<Position> {
    let mut left = request.after(scan.last_id);
    let at = left.find_map(|(_, mutation)| Some(mutation.resolved.as_ref()?.at))?;
    // Entries before the first scanned one are unknown.
    let newest = scan.newest_edit.max(Some(scan.start))?;
    (newest > at).then_some(newest)
}

fn external(
    request: &Request,
    scan: &Scan,
    upload: &Upload,
    position: Position,
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
    committer(scan, position).object(authored, &upload.operations)
}

/// Commits mutations after the scanned entries.
fn committer(scan: &Scan, position: Position) -> Committer {
    let viewpoint = scan.viewpoint.clone();
    Committer::new(viewpoint, scan.start, position, scan.committed_bytes).on(scan.state())
}

fn reject_all(upload: &Upload, rejection: &Rejection) -> Vec<Mutation> {
    let rejected = Mutation {
        base: upload.base,
        authored: Operation::Rejected(rejection.clone()),
        committed: None,
    };
    upload.operations.iter().map(|_| rejected.clone()).collect()
}

/// The mutations of one entry.
struct Batch {
    committer: Committer,
    mutations: Vec<Mutation>,
    bytes: usize,
    bases: BTreeSet<Position>,
}

impl Batch {
    fn new(scan: &Scan, position: Position) -> Self {
        let committer = committer(scan, position);
        let (mutations, bases) = (Vec::new(), BTreeSet::new());
        Self { committer, mutations, bytes: BODY_FRAME_BYTES, bases }
    }

    /// Adds as many mutations as fit.
    fn take<'m>(
        mut self,
        mutations: impl Iterator<Item = (u64, &'m RequestMutation)>,
    ) -> Result<Vec<Mutation>, BodyError> {
        for (_, mutation) in mutations {
            self.bases.insert(mutation.base);
            if self.bases.len() > MAX_BASES_PER_ENTRY {
                break;
            }
            let committed = self.committer.commit(mutation);
            let bytes = self.bytes.saturating_add(encoded_mutation_bytes(&committed)?);
            if bytes > MAX_ENTRY_BODY_BYTES && !self.mutations.is_empty() {
                break;
            }
            self.bytes = bytes;
            self.committer.follow(&committed);
            self.mutations.push(committed);
        }
        Ok(self.mutations)
    }
}
