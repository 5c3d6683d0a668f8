//! Transforms a mutation past the entries committed since its base. The append machine commits the result, and
//! a client uses the same code to show pending edits.

use std::collections::BTreeSet;

use super::effect::{Effect, KnownState, not_added};
use super::request::{RequestMutation, Resolved, too_large};
use super::scan::operations_bytes;
use crate::entry::{ExternalEdits, Mutation, encode_external};
use crate::transform::{SpaceMap, Viewpoint, transform};
use cellar_base::limits::{
    MAX_COMMITTED_OPERATIONS, MAX_ENTRY_BODY_BYTES, MAX_MOVED_SHEETS, MAX_REPLY_BYTES, MAX_SPANS,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{DeleteSpans, Operation, Rejection, RejectionReason, Spans};

/// Commits the mutations of one author in order, after the entries that the viewpoint has learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Committer {
    viewpoint: Viewpoint,
    /// First position that the viewpoint has learned.
    start: Position,
    /// Position of the entry that will contain the mutations.
    position: Position,
    /// Approximate bytes of the committed operations of the request in its reply.
    committed_bytes: usize,
    /// Base of the last mutation, and the map from the position after it.
    map: Option<(Position, SpaceMap)>,
    /// State before the next mutation, if known.
    state: Option<KnownState>,
}

impl Committer {
    /// Starts with mutations at `position`. `committed_bytes` are the bytes that earlier committed operations
    /// of the request take in its reply.
    pub fn new(
        viewpoint: Viewpoint,
        start: Position,
        position: Position,
        committed_bytes: usize,
    ) -> Self {
        Self { viewpoint, start, position, committed_bytes, map: None, state: None }
    }

    /// Sets the known state. Operations without an effect on it are not committed.
    pub fn on(self, state: Option<KnownState>) -> Self {
        Self { state, ..self }
    }

    /// Returns an external body with `operations`, which were authored on `authored.base`, and the map from
    /// that base.
    pub fn object(
        &self,
        authored: ExternalEdits,
        operations: &[Operation],
    ) -> Result<ExternalEdits, Rejection> {
        let mut map = space(&self.viewpoint, self.start, authored.base)?;
        // Only kept runs are stored.
        if map.sheets().any(|(_, map)| !map.rows.keeps_order() || !map.columns.keeps_order()) {
            return Err(too_far_behind());
        }
        for sheet in operations.iter().filter_map(Operation::sheet).collect::<BTreeSet<_>>() {
            let target = map.sheet(sheet).sheet.ok_or_else(|| not_added(sheet))?;
            let on_target =
                Operation::DeleteRows(DeleteSpans { sheet: target, spans: Spans::default() });
            if self.effect(authored.base, &on_target)? == Effect::None {
                map.drop_sheet(sheet);
            }
        }
        let external = ExternalEdits { map: map.of_cells(), ..authored };
        let encoded = encode_external(self.position, &external);
        let bytes = encoded.map_or(usize::MAX, |(_, body)| body.len());
        if bytes > MAX_ENTRY_BODY_BYTES || external.map.sheets().count() > MAX_MOVED_SHEETS {
            return Err(too_far_behind());
        }
        Ok(external)
    }

    /// Returns the committed form of a mutation. A result that does not fit is rejected.
    pub fn commit(&mut self, mutation: &RequestMutation) -> Mutation {
        let RequestMutation { base, authored, resolved } = mutation;
        let committed = match (authored, resolved) {
            (Operation::Rejected(_), _) => Ok(None),
            (Operation::Undo(undo), resolved) => undone(undo.position, resolved.as_ref()).map(Some),
            (Operation::Revert(revert), resolved) => {
                restored(revert.position, resolved.as_ref()).map(Some)
            }
            (authored, _) => self.moved(*base, authored),
        };
        let rejected = |rejection| Mutation::rejected(*base, authored, rejection);
        match committed {
            Err(rejection) => rejected(rejection),
            Ok(committed) => {
                let whole = Mutation { base: *base, authored: authored.clone(), committed };
                let too_much = too_many_parts(&whole)
                    .or_else(|| too_large(&whole))
                    .map(|rejection| cannot_be_split(authored).unwrap_or(rejection))
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
            None => (base, space(&self.viewpoint, self.start, base)?),
        };
        let committed = transform(authored, &map);
        let added = authored.sheet().is_none_or(|sheet| map.sheet(sheet).sheet.is_some());
        self.map = Some((base, map));
        match (committed.as_deref(), authored.sheet()) {
            (_, Some(sheet)) if !added => Err(not_added(sheet)),
            (Some([]), _) => Ok(committed),
            (moved, _) => {
                let operation = moved.and_then(<[Operation]>::first).unwrap_or(authored);
                match self.effect(base, operation)? {
                    Effect::Some => Ok(committed),
                    Effect::None => Ok(Some(Vec::new())),
                }
            }
        }
    }

    fn effect(&self, base: Position, operation: &Operation) -> Result<Effect, Rejection> {
        match &self.state {
            Some(state) => state.effective(&self.viewpoint, base, operation),
            None => Ok(Effect::Some),
        }
    }

    /// Rejects a mutation if the committed operations of the request exceed one reply.
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

    /// Continues after a committed mutation.
    pub fn follow(&mut self, mutation: &Mutation) {
        if let Some((_, map)) = &mut self.map {
            match mutation.authored.is_resolved_on_append() {
                // The author does not know the resolved operations, so they count as foreign.
                true => mutation.effective().iter().for_each(|o| map.follow(o)),
                false => map.follow_own(&mutation.authored, mutation.effective()),
            }
        }
        let (authored, committed) = (&mutation.authored, mutation.effective());
        if let Some(state) = &mut self.state {
            state.follow(committed);
        }
        self.viewpoint.add_own_mutation(self.position, mutation.base, authored, committed);
    }
}

/// Returns the map from the author's space after `base`.
fn space(viewpoint: &Viewpoint, start: Position, base: Position) -> Result<SpaceMap, Rejection> {
    known_from(viewpoint.first_needed_position(base), start)?;
    let map = viewpoint.map_from(base).map_err(|_| too_far_behind())?;
    if map.is_too_long() { Err(too_far_behind()) } else { Ok(map) }
}

/// Returns whether all entries after `needed` are known.
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

/// Returns the operations of a resolved undo, if it was resolved on the state before its entry.
fn undone(target: Position, resolved: Option<&Resolved>) -> Result<Vec<Operation>, Rejection> {
    let operations = resolved.map_or(&[][..], |resolved| resolved.operations.as_slice());
    if operations.is_empty() {
        let detail = format!("nothing of what {target} did is still there");
        return Err(Rejection::new(RejectionReason::NothingToUndo, detail));
    }
    Ok(operations.to_vec())
}

/// Returns the operations of a resolved revert, if it was resolved on the state before its entry.
fn restored(target: Position, resolved: Option<&Resolved>) -> Result<Vec<Operation>, Rejection> {
    let Some(resolved) = resolved else { return Err(too_large_revert(target)) };
    if resolved.operations.is_empty() {
        let detail = format!("nothing differs from {target}, or there is no such position");
        return Err(Rejection::new(RejectionReason::NothingToRevert, detail));
    }
    Ok(resolved.operations.clone())
}

/// Returns the rejection of an undo or revert that does not fit an entry; it cannot be split.
fn cannot_be_split(authored: &Operation) -> Option<Rejection> {
    match authored {
        Operation::Undo(_) => {
            let detail = "what it takes back is too large for one entry: read it at an earlier \
                          position and set it again";
            Some(Rejection::new(RejectionReason::TooLarge, detail))
        }
        Operation::Revert(revert) => Some(too_large_revert(revert.position)),
        _ => None,
    }
}

fn too_large_revert(target: Position) -> Rejection {
    let detail = format!(
        "what has changed since {target} is more than one entry can take back: a fork at {target} \
         has it as it was"
    );
    Rejection::new(RejectionReason::TooLarge, detail)
}

/// Returns the rejection of a mutation whose transformed operations do not fit an entry.
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
