//! Transforms mutations past the entries committed since their bases. The append state machine
//! commits the transformed mutations; clients use the same code to display pending edits.

use std::collections::BTreeSet;

use super::effect::{KnownState, sheet_not_added};
use super::request::{RequestMutation, Resolved, too_large};
use super::scan::operations_bytes;
use crate::entry::{ExternalEdits, Mutation, encode_external};
use crate::transform::{SpaceMap, transform};
use crate::viewpoint::Viewpoint;
use cellar_base::limits::{
    MAX_COMMITTED_OPERATIONS, MAX_ENTRY_BODY_BYTES, MAX_MOVED_SHEETS, MAX_REPLY_BYTES, MAX_SPANS,
};
use cellar_base::position::Position;
use cellar_sheet::operation::{DeleteSpans, Operation, Rejection, RejectionReason, SheetId, Spans};

/// Commits mutations of one client in order, transforming each past the changes in its viewpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Committer {
    viewpoint: Viewpoint,
    /// Position of the first entry in the viewpoint.
    viewpoint_start: Position,
    /// Position of the entry under construction.
    position: Position,
    /// Approximate response size of the operations committed for the request so far, in bytes.
    committed_bytes: usize,
    /// Memoized transform map and its base, from the last transformed mutation.
    map: Option<(Position, SpaceMap)>,
    /// State before the next mutation, if known.
    state: Option<KnownState>,
}

impl Committer {
    /// Creates a committer for an entry at `position`. `viewpoint` must contain all entries
    /// starting at `viewpoint_start`. `committed_bytes` is the response size of the operations
    /// already committed for the request.
    pub fn new(
        viewpoint: Viewpoint,
        viewpoint_start: Position,
        position: Position,
        committed_bytes: usize,
    ) -> Self {
        Self { viewpoint, viewpoint_start, position, committed_bytes, map: None, state: None }
    }

    /// Sets the state before the next mutation. Operations without an effect on this state are
    /// dropped.
    pub fn with_state(self, state: Option<KnownState>) -> Self {
        Self { state, ..self }
    }

    /// Adds the map from the base to the entry's position to `authored`. `operations` is the
    /// content of the external body.
    ///
    /// # Errors
    /// Returns a rejection of all operations if the map cannot be stored or an operation targets a
    /// nonexistent sheet.
    pub fn commit_external(
        &self,
        authored: ExternalEdits,
        operations: &[Operation],
    ) -> Result<ExternalEdits, Rejection> {
        let mut map = self.map_from(authored.base)?;
        // A stored map must preserve the order of rows and columns.
        if map.sheets().any(|(_, map)| !map.rows.keeps_order() || !map.columns.keeps_order()) {
            return Err(too_far_behind());
        }
        let sheets: BTreeSet<SheetId> = operations.iter().filter_map(Operation::sheet).collect();
        for sheet in sheets {
            let committed_sheet =
                map.sheet_map(sheet).target.ok_or_else(|| sheet_not_added(sheet))?;
            if !self.sheet_has_effect(authored.base, committed_sheet)? {
                map.drop_sheet(sheet);
            }
        }
        let external = ExternalEdits { map: map.cells_only(), ..authored };
        let encoded = encode_external(self.position, &external);
        let bytes = encoded.map_or(usize::MAX, |(_, body)| body.len());
        if bytes > MAX_ENTRY_BODY_BYTES || external.map.sheets().count() > MAX_MOVED_SHEETS {
            return Err(too_far_behind());
        }
        Ok(external)
    }

    /// Returns the committed form of a mutation, or a rejection if the mutation cannot be
    /// committed.
    pub fn commit(&mut self, mutation: &RequestMutation) -> Mutation {
        let RequestMutation { base, authored, resolved } = mutation;
        let committed = match authored {
            Operation::Rejected(_) => Ok(None),
            Operation::Undo(undo) => undo_operations(undo.position, resolved.as_ref()).map(Some),
            Operation::Revert(revert) => {
                revert_operations(revert.position, resolved.as_ref()).map(Some)
            }
            authored => self.transform_operation(*base, authored),
        };
        let result = committed.and_then(|committed| {
            let mutation = Mutation { base: *base, authored: authored.clone(), committed };
            self.check_size(&mutation)?;
            Ok(mutation)
        });
        result.unwrap_or_else(|rejection| Mutation::rejected(*base, authored, rejection))
    }

    /// Transforms an operation past the changes since its base. Returns `None` if the operation is
    /// unchanged, or an empty list if it no longer has an effect.
    fn transform_operation(
        &mut self,
        base: Position,
        authored: &Operation,
    ) -> Result<Option<Vec<Operation>>, Rejection> {
        let map = match self.map.take() {
            Some((map_base, map)) if map_base == base => map,
            _ => self.map_from(base)?,
        };
        let committed = transform(authored, &map);
        let missing_sheet = authored.sheet().filter(|sheet| map.sheet_map(*sheet).target.is_none());
        self.map = Some((base, map));
        if let Some(sheet) = missing_sheet {
            return Err(sheet_not_added(sheet));
        }
        let effective = match committed.as_deref() {
            None => authored,
            Some([]) => return Ok(committed),
            Some([first, ..]) => first,
        };
        if self.has_effect(base, effective)? { Ok(committed) } else { Ok(Some(Vec::new())) }
    }

    /// Returns the map from the client's coordinates after `base` to the coordinates of the latest
    /// entry.
    fn map_from(&self, base: Position) -> Result<SpaceMap, Rejection> {
        if self.viewpoint.first_needed_position(base) < self.viewpoint_start {
            return Err(base_trimmed());
        }
        let map = self.viewpoint.map_from(base).map_err(|_| too_far_behind())?;
        if map.is_too_long() { Err(too_far_behind()) } else { Ok(map) }
    }

    /// Whether an operation changes the known state. `true` if the state is unknown.
    fn has_effect(&self, base: Position, operation: &Operation) -> Result<bool, Rejection> {
        match &self.state {
            Some(state) => state.has_effect(&self.viewpoint, base, operation),
            None => Ok(true),
        }
    }

    /// Whether cell operations on a sheet can have an effect.
    fn sheet_has_effect(&self, base: Position, sheet: SheetId) -> Result<bool, Rejection> {
        let any_operation = Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::default() });
        self.has_effect(base, &any_operation)
    }

    /// Checks that a mutation fits into an entry and that the request's committed operations fit
    /// into a response.
    fn check_size(&mut self, mutation: &Mutation) -> Result<(), Rejection> {
        if let Some(rejection) = too_many_spans(mutation).or_else(|| too_large(mutation)) {
            return Err(resolution_too_large(&mutation.authored).unwrap_or(rejection));
        }
        let bytes = mutation.committed.as_deref().map_or(0, operations_bytes);
        let total = self.committed_bytes.saturating_add(bytes);
        if total > MAX_REPLY_BYTES && self.committed_bytes > 0 {
            let detail = "the committed operations of this request exceed the size of a reply; send \
                          the mutation in a request of its own";
            return Err(Rejection::new(RejectionReason::TooLarge, detail));
        }
        self.committed_bytes = total;
        Ok(())
    }

    /// Adds a committed mutation to the viewpoint. Later mutations are transformed past it.
    pub fn add_committed(&mut self, mutation: &Mutation) {
        let (authored, committed) = (&mutation.authored, mutation.effective());
        if let Some((_, map)) = &mut self.map {
            if authored.is_resolved_on_append() {
                // The client never saw the operations that its undo or revert was resolved to, so
                // treat them as another client's changes.
                committed.iter().for_each(|operation| map.add_foreign(operation));
            } else {
                map.add_own(authored, committed);
            }
        }
        if let Some(state) = &mut self.state {
            state.apply(committed);
        }
        self.viewpoint.add_own_mutation(self.position, mutation.base, authored, committed);
    }
}

fn base_trimmed() -> Rejection {
    let detail = "the entries after the base of this edit were trimmed; reload the spreadsheet and \
                  repeat the edit";
    Rejection::new(RejectionReason::BaseGone, detail)
}

fn too_far_behind() -> Rejection {
    let detail = "too many rows, columns or sheets have moved since the base of this edit; reload \
                  the spreadsheet and repeat the edit";
    Rejection::new(RejectionReason::TooFarBehind, detail)
}

/// Returns the operations that undo the entry at `target`, or a rejection if nothing is left to
/// undo.
fn undo_operations(
    target: Position,
    resolved: Option<&Resolved>,
) -> Result<Vec<Operation>, Rejection> {
    match resolved {
        Some(resolved) if !resolved.operations.is_empty() => Ok(resolved.operations.clone()),
        _ => {
            let detail = format!("nothing is left to undo of the entry at {target}");
            Err(Rejection::new(RejectionReason::NothingToUndo, detail))
        }
    }
}

/// Returns the operations that revert all edits after `target`, or a rejection if there is nothing
/// to revert or too much for one entry.
fn revert_operations(
    target: Position,
    resolved: Option<&Resolved>,
) -> Result<Vec<Operation>, Rejection> {
    let Some(resolved) = resolved else { return Err(revert_too_large(target)) };
    if resolved.operations.is_empty() {
        let detail = format!(
            "nothing to revert: position {target} does not exist, or the spreadsheet has not \
             changed since"
        );
        return Err(Rejection::new(RejectionReason::NothingToRevert, detail));
    }
    Ok(resolved.operations.clone())
}

/// Returns a rejection if an undo or revert does not fit into an entry, and `None` for any other
/// operation.
fn resolution_too_large(authored: &Operation) -> Option<Rejection> {
    match authored {
        Operation::Undo(_) => {
            let detail = "the undo is too large for one entry; read the cells at an earlier \
                          position and set them again";
            Some(Rejection::new(RejectionReason::TooLarge, detail))
        }
        Operation::Revert(revert) => Some(revert_too_large(revert.position)),
        _ => None,
    }
}

fn revert_too_large(target: Position) -> Rejection {
    let detail = format!(
        "the changes since {target} are too many to revert in one entry; fork the spreadsheet at \
         {target} instead"
    );
    Rejection::new(RejectionReason::TooLarge, detail)
}

/// Rejection of a mutation whose transformed operations do not fit into an entry.
fn too_many_spans(mutation: &Mutation) -> Option<Rejection> {
    let committed = mutation.committed.as_ref()?;
    let span_count = |operation: &Operation| match operation {
        Operation::ClearRange(clear) => clear.rows.len().max(clear.columns.len()),
        Operation::SetFormat(set) => set.rows.len().max(set.columns.len()),
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => delete.spans.len(),
        _ => 0,
    };
    let has_too_many_spans = committed.iter().any(|operation| span_count(operation) > MAX_SPANS);
    if !has_too_many_spans && committed.len() <= MAX_COMMITTED_OPERATIONS {
        return None;
    }
    let detail = "others inserted rows or columns inside its range, which now has too many parts; \
                  split it into smaller ranges";
    Some(Rejection::new(RejectionReason::TooLarge, detail))
}
