//! Starts over as a new client. This is necessary if the tables were restored, if the base of a
//! pending edit no longer exists, or if the server has permanently refused the pending edits.

use cellar_api::rebase::OwnEntries;
use cellar_log::transform::{SheetMap, SpaceMap, transform};
use cellar_sheet::operation::{AddSheet, Operation, SheetId};

use super::canonical::CanonicalState;
use super::sync::{Answers, SetAsideEdits};
use super::{LiveError, LiveSheet, client_key, load_pending};
use crate::outbox::{EditPayload, OutboxState, new_client_id};

impl LiveSheet {
    /// Loads the newest state and continues as a new client.
    ///
    /// Pending edits that may have been committed are moved to a file. These are the edits up to
    /// `last_uncertain_id` and the edits of requests whose outcome is unknown. The new client
    /// recreates all other pending edits.
    ///
    /// The file is written before the edits are dropped. After a crash between these two steps, a
    /// second file with the same edits may be written, but no edit is lost.
    pub(super) async fn start_over(&mut self, last_uncertain_id: u64) -> Result<(), LiveError> {
        self.canonical = CanonicalState::load(&self.source, None).await?;
        // Edits that are contained in the loaded entries are certainly committed.
        self.acknowledge_known_entries();
        let last_uncertain_id = self.outbox_state.attempted_id.max(last_uncertain_id);
        self.set_aside_up_to(last_uncertain_id)?;
        let new_state = self.recreate_edits_after(last_uncertain_id)?;
        self.pending = load_pending(&self.outbox, &new_state)?;
        self.own_entries = OwnEntries::new(client_key(self.subject, &new_state.client_id));
        self.outbox_state = new_state;
        self.answers = Answers::default();
        self.unreported.reapplied += self.pending.len();
        Ok(self.save_and_rebase().await?)
    }

    fn set_aside_up_to(&mut self, last_id: u64) -> Result<(), LiveError> {
        let uncertain_edits = self.outbox_state.pending_up_to(last_id);
        if uncertain_edits.is_empty() {
            return Ok(());
        }
        let file = self.outbox.write_set_aside_file(uncertain_edits)?;
        let edits = uncertain_edits.len();
        self.unreported.set_aside.push(SetAsideEdits { file, edits });
        Ok(())
    }

    fn recreate_edits_after(&self, last_id: u64) -> Result<OutboxState, LiveError> {
        let mut new_state = OutboxState::new(
            self.outbox.key(),
            new_client_id(),
            self.canonical.incarnation(),
            self.canonical.position(),
        );
        let mut sheet_renumbering = SheetRenumbering::from_number(self.next_canonical_sheet());
        for edit in self.pending.iter().filter(|edit| edit.id > last_id) {
            let operation = sheet_renumbering.renumber(edit.operation.clone());
            let (payload, object) =
                EditPayload::encode(operation).map_err(|fault| LiveError::TooLarge { fault })?;
            self.outbox.add_edit_unsaved(&mut new_state, payload, object)?;
        }
        Ok(new_state)
    }

    /// Returns the lowest sheet number that is greater than all numbers ever used in the canonical
    /// state.
    fn next_canonical_sheet(&self) -> SheetId {
        self.canonical.tail.fold.metadata().tabs.next_sheet()
    }
}

/// Gives new numbers to the sheets that a sequence of operations adds. Later operations on these
/// sheets are changed to use the new numbers.
struct SheetRenumbering {
    next_number: u32,
    /// Maps the old number of each added sheet to its new number.
    sheet_maps: Vec<(SheetId, SheetMap)>,
}

impl SheetRenumbering {
    fn from_number(first_number: SheetId) -> Self {
        Self { next_number: first_number.0, sheet_maps: Vec::new() }
    }

    fn renumber(&mut self, operation: Operation) -> Operation {
        if let Operation::AddSheet(AddSheet { sheet: old_number, name, before }) = operation {
            let before = before.and_then(|number| self.space_map().sheet_map(number).target);
            let sheet = SheetId(self.next_number);
            self.next_number = self.next_number.saturating_add(1);
            let sheet_map = SheetMap { target: Some(sheet), ..SheetMap::identity(old_number) };
            self.sheet_maps.push((old_number, sheet_map));
            return Operation::AddSheet(AddSheet { sheet, name, before });
        }
        match transform(&operation, &self.space_map()) {
            // Changing a sheet number yields exactly one operation.
            Some(adapted) => adapted.into_iter().next().unwrap_or(operation),
            None => operation,
        }
    }

    fn space_map(&self) -> SpaceMap {
        SpaceMap::from_sheets(self.sheet_maps.iter().cloned())
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{DeleteSheet, RenameSheet};

    use super::*;

    #[test]
    fn added_sheets_get_free_numbers_and_later_operations_follow_them() {
        let add = |sheet: u32| {
            Operation::AddSheet(AddSheet {
                sheet: SheetId(sheet),
                name: format!("s{sheet}"),
                before: None,
            })
        };
        let delete = |sheet| Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) });
        let rename = |sheet| {
            let name = "n".to_owned();
            Operation::RenameSheet(RenameSheet { sheet: SheetId(sheet), name })
        };
        let operations = [delete(5), add(5), rename(5), add(6), delete(6), rename(0)];
        let mut renumbering = SheetRenumbering::from_number(SheetId(3));
        let renumbered = operations.map(|operation| renumbering.renumber(operation));
        let named = |sheet, name: &str| {
            Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.into(), before: None })
        };
        let expected = [delete(5), named(3, "s5"), rename(3), named(4, "s6"), delete(4), rename(0)];
        assert_eq!(renumbered, expected);
    }
}
