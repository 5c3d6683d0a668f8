//! Transforms mutations against the entries committed since their bases. The append state machine
//! uses this code to commit mutations. Clients use it to display pending edits.

use std::collections::{BTreeMap, BTreeSet};

use super::effect::{Effect, KnownState, rejection_of_missing_sheet};
use super::request::{RequestMutation, rejection_if_too_large};
use super::resolution::Resolution;
use super::scan::operations_bytes;
use crate::entry::{ExternalEdits, Mutation, encode_external};
use crate::transform::{SpaceMap, transform};
use crate::viewpoint::Viewpoint;
use cellar_base::limits::{
    MAX_COMMITTED_OPERATIONS, MAX_ENTRY_BODY_BYTES, MAX_MOVED_SHEETS, MAX_REPLY_BYTES, MAX_SPANS,
};
use cellar_base::position::Position;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::{DeleteSpans, Operation, Rejection, RejectionReason, SheetId, Spans};

/// Commits the mutations of one client in order. Each mutation is first transformed against the
/// changes in the client's viewpoint, which is the log as this client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Committer {
    viewpoint: Viewpoint,
    viewpoint_start: Position,
    entry_position: Position,
    /// Approximate size in bytes of the operations already committed for the request, as encoded in
    /// the response.
    committed_bytes: usize,
    map_from_base: Option<(Position, SpaceMap)>,
    state: Option<KnownState>,
    /// Tabs at a position at or before the bases of all mutations.
    tabs: Option<(Position, Tabs)>,
    max_reply_bytes: usize,
    later_imports: LaterImports,
}

/// Sheets that the mutations of one entry import: the committed numbers by those of the author.
pub(super) type LaterImports = BTreeMap<SheetId, SheetId>;

impl Committer {
    /// Creates a committer for an entry at `entry_position`. `viewpoint` must contain all entries
    /// starting at `viewpoint_start`. `committed_bytes` is the approximate size that the operations
    /// already committed for the request will have in the response.
    pub fn new(
        viewpoint: Viewpoint,
        viewpoint_start: Position,
        entry_position: Position,
        committed_bytes: usize,
    ) -> Self {
        Self {
            viewpoint,
            viewpoint_start,
            entry_position,
            committed_bytes,
            map_from_base: None,
            state: None,
            tabs: None,
            max_reply_bytes: MAX_REPLY_BYTES,
            later_imports: LaterImports::new(),
        }
    }

    /// Sets the sheets that mutations of the same entry import. Without them, formulas of an import
    /// find the sheets of later imports by name.
    pub(super) fn with_later_imports(self, later_imports: LaterImports) -> Self {
        Self { later_imports, ..self }
    }

    /// Removes the limit on the size of all committed operations, for a request whose response does
    /// not contain them.
    pub(super) fn without_reply_limit(self) -> Self {
        Self { max_reply_bytes: usize::MAX, ..self }
    }

    /// Sets the state of the workbook before the next mutation. Operations without an effect on
    /// this state (see [`effect`](super::effect)) are dropped.
    pub fn with_state(self, state: Option<KnownState>) -> Self {
        Self { state, ..self }
    }

    /// Sets the tabs at a position at or before the bases of all mutations. Without them, references of
    /// formulas to other sheets do not follow edits.
    pub fn with_tabs(self, tabs: Option<(Position, Tabs)>) -> Self {
        Self { tabs, ..self }
    }

    /// Adds a map to `authored` that transforms its operations from the coordinates of their base
    /// to the coordinates of the entry. `operations` are the operations in the external body, which
    /// is the S3 object of a large entry.
    ///
    /// # Errors
    /// Returns a rejection of all operations if the map cannot be stored or an operation targets a
    /// nonexistent sheet.
    pub fn commit_external(
        &self,
        authored: ExternalEdits,
        operations: &[Operation],
    ) -> Result<ExternalEdits, Rejection> {
        let mut map = self.map_from(authored.base)?.with_sheets_named_in(operations);
        // A map can be stored only if it preserves the order of rows and columns.
        if !map.keeps_order() {
            return Err(rejection_of_distant_base());
        }
        self.drop_sheets_without_effect(&mut map, authored.base, operations)?;
        let committed = ExternalEdits { map: map.without_added_sheets(), ..authored };
        self.check_stored_map_fits(&committed)?;
        Ok(committed)
    }

    /// Removes the sheets that were deleted after `base` from `map`. Operations on a removed sheet
    /// have no effect.
    fn drop_sheets_without_effect(
        &self,
        map: &mut SpaceMap,
        base: Position,
        operations: &[Operation],
    ) -> Result<(), Rejection> {
        let sheets: BTreeSet<SheetId> = operations.iter().filter_map(Operation::sheet).collect();
        for sheet in sheets {
            let Some(committed_sheet) = map.sheet_map(sheet).target else {
                return Err(rejection_of_missing_sheet(sheet));
            };
            if self.effect_on_sheet(base, committed_sheet)? == Effect::Nothing {
                map.drop_sheet(sheet);
            }
        }
        Ok(())
    }

    fn check_stored_map_fits(&self, external: &ExternalEdits) -> Result<(), Rejection> {
        // Encoding cannot fail for these types.
        let encoded_body = encode_external(self.entry_position, external);
        let body_bytes = encoded_body.map_or(usize::MAX, |(_, body)| body.len());
        let moved_sheet_count = external.map.sheets().count();
        if body_bytes > MAX_ENTRY_BODY_BYTES || moved_sheet_count > MAX_MOVED_SHEETS {
            return Err(rejection_of_distant_base());
        }
        Ok(())
    }

    /// Returns the committed form of a mutation, or a rejection if the mutation cannot be
    /// committed.
    pub fn commit(&mut self, mutation: &RequestMutation) -> Mutation {
        self.try_commit(mutation).unwrap_or_else(|rejection| {
            Mutation::rejected(mutation.base, &mutation.authored, rejection)
        })
    }

    fn try_commit(&mut self, mutation: &RequestMutation) -> Result<Mutation, Rejection> {
        let RequestMutation { base, authored, resolution, .. } = mutation;
        let committed = match authored {
            Operation::Rejected(_) => None,
            Operation::Undo(undo) => Some(undo_operations(undo.position, resolution.as_ref())?),
            Operation::Revert(revert) => {
                Some(revert_operations(revert.position, resolution.as_ref())?)
            }
            _ => {
                let transformed = self.transform_operation(*base, authored)?;
                with_following_operations(authored, transformed, resolution.as_ref())
            }
        };
        let committed_mutation = Mutation { base: *base, authored: authored.clone(), committed };
        check_entry_limits(&committed_mutation)?;
        self.add_to_reply_size(&committed_mutation)?;
        Ok(committed_mutation)
    }

    /// Returns `None` if the operation is unchanged, or an empty list if it no longer has an
    /// effect.
    fn transform_operation(
        &mut self,
        base: Position,
        authored: &Operation,
    ) -> Result<Option<Vec<Operation>>, Rejection> {
        let map = self.memoized_map_from(base)?;
        if let Some(sheet) = authored.sheet()
            && map.sheet_map(sheet).target.is_none()
        {
            return Err(rejection_of_missing_sheet(sheet));
        }
        if let Operation::SetName(set) = authored
            && let Some(missing) =
                set.sheets.values().find(|sheet| map.sheet_map(**sheet).target.is_none())
        {
            return Err(rejection_of_missing_sheet(*missing));
        }
        let transformed = transform(authored, map);
        let transformed = map_later_imports(authored, transformed, &self.later_imports);
        let committed_operation = match transformed.as_deref() {
            None => authored,
            Some([]) => return Ok(transformed),
            Some([operation, ..]) => operation,
        };
        match self.effect_of(base, committed_operation)? {
            Effect::ChangesState => Ok(transformed),
            Effect::Nothing => Ok(Some(Vec::new())),
        }
    }

    fn memoized_map_from(&mut self, base: Position) -> Result<&SpaceMap, Rejection> {
        let map = match self.map_from_base.take() {
            Some((map_base, map)) if map_base == base => map,
            _ => self.map_from(base)?,
        };
        let (_, memoized_map) = self.map_from_base.insert((base, map));
        Ok(memoized_map)
    }

    /// Returns the map from the client's coordinates after `base` to the coordinates of the latest
    /// entry.
    fn map_from(&self, base: Position) -> Result<SpaceMap, Rejection> {
        if self.viewpoint.first_needed_position(base) < self.viewpoint_start {
            return Err(rejection_of_trimmed_base());
        }
        let map = self.viewpoint.map_from(base).map_err(|_| rejection_of_distant_base())?;
        if map.exceeds_run_limit() {
            return Err(rejection_of_distant_base());
        }
        let Some((start, start_tabs)) = &self.tabs else { return Ok(map) };
        let (seen_tabs, latest_tabs) = self.viewpoint.tabs_from(*start, start_tabs, base);
        Ok(map.with_tabs(&seen_tabs, &latest_tabs))
    }

    /// If the state is unknown, the operation is assumed to have an effect.
    fn effect_of(&self, base: Position, operation: &Operation) -> Result<Effect, Rejection> {
        match &self.state {
            Some(state) => state.effect_of(&self.viewpoint, base, operation),
            None => Ok(Effect::ChangesState),
        }
    }

    /// Returns the effect that any cell operation on a sheet would have, which depends only on
    /// whether the sheet still exists.
    fn effect_on_sheet(&self, base: Position, sheet: SheetId) -> Result<Effect, Rejection> {
        let cell_operation = Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::default() });
        self.effect_of(base, &cell_operation)
    }

    /// Rejects the mutation if the response would become too large.
    fn add_to_reply_size(&mut self, mutation: &Mutation) -> Result<(), Rejection> {
        let mutation_bytes = mutation.committed.as_deref().map_or(0, operations_bytes);
        let total_bytes = self.committed_bytes.saturating_add(mutation_bytes);
        let has_committed_operations = self.committed_bytes > 0;
        if total_bytes > self.max_reply_bytes && has_committed_operations {
            let detail = "the committed operations of this request exceed the size of a reply; send \
                          the mutation in a request of its own";
            return Err(Rejection::new(RejectionReason::TooLarge, detail));
        }
        self.committed_bytes = total_bytes;
        Ok(())
    }

    /// Adds a committed mutation to the viewpoint, so that later mutations are transformed against
    /// it.
    pub fn add_committed(&mut self, mutation: &Mutation) {
        let (authored, committed) = (&mutation.authored, mutation.committed_operations());
        if self.tabs.is_some() && changes_tabs(authored, committed) {
            self.map_from_base = None;
        }
        if let Some((_, map)) = &mut self.map_from_base {
            if authored.is_resolved_on_append() {
                // The client has never seen the operations computed for its undo or revert, so they
                // are treated as another client's changes.
                committed.iter().for_each(|operation| map.add_foreign(operation));
            } else {
                map.add_own(authored, committed);
            }
        }
        if let Some(state) = &mut self.state {
            state.apply(committed);
        }
        self.viewpoint.add_own_mutation(self.entry_position, mutation.base, authored, committed);
    }
}

/// Adds the operations that follow an import, if the import has an effect.
fn with_following_operations(
    authored: &Operation,
    transformed: Option<Vec<Operation>>,
    resolution: Option<&Resolution>,
) -> Option<Vec<Operation>> {
    let following = resolution.map_or(&[][..], |resolution| &resolution.operations);
    let has_effect = transformed.as_ref().is_none_or(|operations| !operations.is_empty());
    if following.is_empty() || !has_effect {
        return transformed;
    }
    let mut operations = transformed.unwrap_or_else(|| vec![authored.clone()]);
    operations.extend_from_slice(following);
    Some(operations)
}

/// Maps the sheets of later imports that the formulas of an import name. Others may have added sheets
/// between the entries of two imports, so those of other entries are left out.
fn map_later_imports(
    authored: &Operation,
    transformed: Option<Vec<Operation>>,
    later_imports: &LaterImports,
) -> Option<Vec<Operation>> {
    let Operation::ImportSheet(authored_import) = authored else { return transformed };
    let own_number = authored_import.sheet;
    if authored_import.sheets.values().all(|sheet| *sheet <= own_number) {
        return transformed;
    }
    let mut import = match transformed.as_deref() {
        Some([Operation::ImportSheet(import)]) => import.clone(),
        _ => authored_import.clone(),
    };
    for (name, authored_number) in &authored_import.sheets {
        if *authored_number > own_number {
            match later_imports.get(authored_number) {
                Some(committed) => import.sheets.insert(name.clone(), *committed),
                None => import.sheets.remove(name),
            };
        }
    }
    if import == *authored_import { None } else { Some(vec![Operation::ImportSheet(import)]) }
}

fn changes_tabs(authored: &Operation, committed: &[Operation]) -> bool {
    std::iter::once(authored).chain(committed).any(Operation::changes_tabs)
}

fn rejection_of_trimmed_base() -> Rejection {
    let detail = "the entries after the base of this edit were trimmed; reload the spreadsheet and \
                  repeat the edit";
    Rejection::new(RejectionReason::BaseGone, detail)
}

fn rejection_of_distant_base() -> Rejection {
    let detail = "too many rows, columns or sheets have moved since the base of this edit; reload \
                  the spreadsheet and repeat the edit";
    Rejection::new(RejectionReason::TooFarBehind, detail)
}

/// Returns a rejection if no edit of the entry can be undone, or if the operations are unknown.
fn undo_operations(
    undone_position: Position,
    resolution: Option<&Resolution>,
) -> Result<Vec<Operation>, Rejection> {
    match resolution {
        Some(resolution) if !resolution.operations.is_empty() => Ok(resolution.operations.clone()),
        Some(Resolution { rejection: Some(rejection), .. }) => Err(rejection.clone()),
        Some(_) => {
            let detail = format!("the entry at {undone_position} has no edits left to undo");
            Err(Rejection::new(RejectionReason::NothingToUndo, detail))
        }
        None => {
            let detail = format!(
                "the cells that an undo of {undone_position} needs are too many or damaged; read the \
                 cells at an earlier position and set them again"
            );
            Err(Rejection::new(RejectionReason::TooLarge, detail))
        }
    }
}

/// Returns a rejection if there is nothing to revert or the operations do not fit into one entry.
fn revert_operations(
    target: Position,
    resolution: Option<&Resolution>,
) -> Result<Vec<Operation>, Rejection> {
    let Some(resolution) = resolution else { return Err(rejection_of_large_revert(target)) };
    if resolution.operations.is_empty()
        && let Some(rejection) = &resolution.rejection
    {
        return Err(rejection.clone());
    }
    if resolution.operations.is_empty() {
        let detail = format!(
            "nothing to revert: position {target} does not exist, or the spreadsheet has not \
             changed since"
        );
        return Err(Rejection::new(RejectionReason::NothingToRevert, detail));
    }
    Ok(resolution.operations.clone())
}

/// Returns `None` for any operation other than an undo or revert.
fn rejection_of_large_resolution(authored: &Operation) -> Option<Rejection> {
    match authored {
        Operation::Undo(_) => {
            let detail = "the undo is too large for one entry; read the cells at an earlier \
                          position and set them again";
            Some(Rejection::new(RejectionReason::TooLarge, detail))
        }
        Operation::Revert(revert) => Some(rejection_of_large_revert(revert.position)),
        _ => None,
    }
}

fn check_entry_limits(mutation: &Mutation) -> Result<(), Rejection> {
    let rejection =
        rejection_if_too_many_spans(mutation).or_else(|| rejection_if_too_large(mutation));
    match rejection {
        Some(rejection) => {
            Err(rejection_of_large_resolution(&mutation.authored).unwrap_or(rejection))
        }
        None => Ok(()),
    }
}

fn rejection_of_large_revert(target: Position) -> Rejection {
    let detail = format!(
        "the changes since {target} are too many to revert in one entry; fork the spreadsheet at \
         {target} instead"
    );
    Rejection::new(RejectionReason::TooLarge, detail)
}

/// Returns the larger of an operation's number of row spans and number of column spans.
fn span_count(operation: &Operation) -> usize {
    match operation {
        Operation::ClearRange(clear) => clear.rows.len().max(clear.columns.len()),
        Operation::SetFormat(set_format) => set_format.rows.len().max(set_format.columns.len()),
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => delete.spans.len(),
        _ => 0,
    }
}

fn rejection_if_too_many_spans(mutation: &Mutation) -> Option<Rejection> {
    let committed = mutation.committed.as_ref()?;
    let has_too_many_spans = committed.iter().any(|operation| span_count(operation) > MAX_SPANS);
    let has_too_many_operations = committed.len() > MAX_COMMITTED_OPERATIONS;
    if !has_too_many_spans && !has_too_many_operations {
        return None;
    }
    let detail = "other users inserted rows or columns inside the range, which now has too many \
                  parts; split the range into smaller ranges";
    Some(Rejection::new(RejectionReason::TooLarge, detail))
}
