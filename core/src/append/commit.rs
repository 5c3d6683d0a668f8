//! What a mutation is committed as, past what was committed since its base (design `2-log.md` §2
//! step 3). The append machine commits by it, and a client that shows edits which are not committed
//! yet foretells by it: there is no second rule.

use std::collections::BTreeSet;

use super::effect::{Effect, KnownState, not_added};
use super::request::{RequestMutation, Resolved, too_large};
use super::scan::operations_bytes;
use crate::entry::{ExternalEdits, Mutation, encode_external};
use crate::limits::{
    MAX_COMMITTED_OPERATIONS, MAX_ENTRY_BODY_BYTES, MAX_MOVED_SHEETS, MAX_REPLY_BYTES, MAX_SPANS,
};
use crate::operation::{DeleteSpans, Operation, Rejection, RejectionReason, Spans};
use crate::position::Position;
use crate::transform::{Author, SpaceMap, transform};

/// Commits one author's mutations, one after the other, behind what the author map has learned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Committer {
    author: Author,
    /// The entries from here on were learned.
    start: Position,
    /// Where the mutations will stand.
    position: Position,
    /// About how many bytes the committed operations of the whole request take in its reply.
    committed_bytes: usize,
    /// The base of the last mutation, and the map from behind it.
    map: Option<(Position, SpaceMap)>,
    /// The state before the next mutation, if it is known.
    state: Option<KnownState>,
}

impl Committer {
    /// For mutations at `position`, of a request whose committed operations take `committed_bytes`
    /// of its reply already.
    pub(crate) fn new(
        author: Author,
        start: Position,
        position: Position,
        committed_bytes: usize,
    ) -> Self {
        Self { author, start, position, committed_bytes, map: None, state: None }
    }

    /// The same, on a state that is known: what has no effect on it is not committed.
    pub(crate) fn on(self, state: Option<KnownState>) -> Self {
        Self { state, ..self }
    }

    /// Returns an object of `operations`, which its author wrote on `authored.base`, with the map from
    /// there.
    pub(crate) fn object(
        &self,
        authored: ExternalEdits,
        operations: &[Operation],
    ) -> Result<ExternalEdits, Rejection> {
        let mut map = space(&self.author, self.start, authored.base)?;
        // What is stored are kept runs.
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

    /// What a mutation is committed as; if that does not fit, it is rejected.
    pub(crate) fn commit(&mut self, mutation: &RequestMutation) -> Mutation {
        let RequestMutation { base, authored, resolved } = mutation;
        let committed = match (authored, resolved) {
            (Operation::Rejected(_), _) => Ok(None),
            (Operation::Undo(undo), resolved) => undone(undo.position, resolved.as_ref()).map(Some),
            (Operation::Restore(restore), resolved) => {
                restored(restore.position, resolved.as_ref()).map(Some)
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
            None => (base, space(&self.author, self.start, base)?),
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
            Some(state) => state.effective(&self.author, base, operation),
            None => Ok(Effect::Some),
        }
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

    /// Goes on behind a mutation that was committed.
    pub(crate) fn follow(&mut self, mutation: &Mutation) {
        if let Some((_, map)) = &mut self.map {
            match mutation.authored.is_resolved_on_append() {
                // What it does is not known to whoever asks for it.
                true => mutation.effective().iter().for_each(|o| map.follow(o)),
                false => map.follow_own(&mutation.authored, mutation.effective()),
            }
        }
        let (authored, committed) = (&mutation.authored, mutation.effective());
        if let Some(state) = &mut self.state {
            state.follow(committed);
        }
        self.author.commit(self.position, mutation.base, authored, committed);
    }
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

/// What an undo was resolved to: on the very state behind which it is put.
fn undone(target: Position, resolved: Option<&Resolved>) -> Result<Vec<Operation>, Rejection> {
    let operations = resolved.map_or(&[][..], |resolved| resolved.operations.as_slice());
    if operations.is_empty() {
        let detail = format!("nothing of what {target} did is still there");
        return Err(Rejection::new(RejectionReason::NothingToUndo, detail));
    }
    Ok(operations.to_vec())
}

/// What a restore was resolved to: on the very state behind which it is put.
fn restored(target: Position, resolved: Option<&Resolved>) -> Result<Vec<Operation>, Rejection> {
    let Some(resolved) = resolved else { return Err(too_large_restore(target)) };
    if resolved.operations.is_empty() {
        let detail = format!("nothing differs from {target}, or there is no such position");
        return Err(Rejection::new(RejectionReason::NothingToRestore, detail));
    }
    Ok(resolved.operations.clone())
}

/// What to say of an undo or a restore that does not fit an entry: nobody can split it.
fn cannot_be_split(authored: &Operation) -> Option<Rejection> {
    match authored {
        Operation::Undo(_) => {
            let detail = "what it takes back is too large for one entry: read it at an earlier \
                          position and set it again";
            Some(Rejection::new(RejectionReason::TooLarge, detail))
        }
        Operation::Restore(restore) => Some(too_large_restore(restore.position)),
        _ => None,
    }
}

fn too_large_restore(target: Position) -> Rejection {
    let detail = format!(
        "what has changed since {target} is more than one entry can take back: a fork at {target} \
         has it as it was"
    );
    Rejection::new(RejectionReason::TooLarge, detail)
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
