//! Starts over as a new client after the tables were restored or the server permanently refused the
//! pending edits.

use cellar_api::rebase::OwnEntries;
use cellar_log::transform::{SheetMap, SpaceMap, transform};
use cellar_sheet::operation::{AddSheet, Operation, SheetId};

use super::canonical::CanonicalState;
use super::sync::{Answers, SetAsideEdits};
use super::{LiveError, LiveSheet, client_key, load_pending};
use crate::outbox::{EditPayload, OutboxState, new_client_id};

impl LiveSheet {
    /// Loads the newest state and continues as a new client. Moves pending edits that may have been
    /// committed to a file: the edits up to `last_uncertain_id` and the edits of a request whose
    /// outcome is unknown. The new client recreates all other pending edits.
    ///
    /// The file is written before the edits are dropped, so a crash in between can lead to two such
    /// files, but never loses an edit.
    pub(super) async fn start_over(&mut self, last_uncertain_id: u64) -> Result<(), LiveError> {
        self.canonical = CanonicalState::load(&self.source, None).await?;
        // Edits in the loaded entries are certainly committed.
        self.acknowledge_known_entries();
        let last_uncertain_id = self.state.attempted_id.max(last_uncertain_id);
        self.set_aside_up_to(last_uncertain_id)?;
        let new_state = self.remake_edits_after(last_uncertain_id)?;
        self.pending = load_pending(&self.outbox, &new_state)?;
        self.own = OwnEntries::new(client_key(self.subject, &new_state.client_id));
        self.state = new_state;
        self.answers = Answers::default();
        self.unreported.reapplied += self.pending.len();
        Ok(self.save_and_rebase().await?)
    }

    /// Copies the pending edits up to `last_id` to a separate file, which is added to the report.
    fn set_aside_up_to(&mut self, last_id: u64) -> Result<(), LiveError> {
        let uncertain = self.state.pending_up_to(last_id);
        if !uncertain.is_empty() {
            let file = self.outbox.write_set_aside_file(uncertain)?;
            let edits = uncertain.len();
            self.unreported.set_aside.push(SetAsideEdits { file, edits });
        }
        Ok(())
    }

    /// Returns the state of a new client based on the canonical position. The new client recreates
    /// the pending edits after `last_id`.
    fn remake_edits_after(&self, last_id: u64) -> Result<OutboxState, LiveError> {
        let mut new_state = OutboxState::new(
            self.outbox.key(),
            new_client_id(),
            self.canonical.incarnation(),
            self.canonical.position(),
        );
        let remaining = self.pending.iter().filter(|pending| pending.id > last_id);
        let operations = remaining.map(|pending| pending.operation.clone());
        let next_sheet = self.canonical.tail.fold.metadata().tabs.next_sheet();
        for operation in renumber_added_sheets(operations, next_sheet) {
            let (payload, object) =
                EditPayload::choose(operation).map_err(|fault| LiveError::TooLarge { fault })?;
            self.outbox.add_edit_unsaved(&mut new_state, payload, object)?;
        }
        Ok(new_state)
    }
}

/// Renumbers the sheets that `operations` add, starting at `next_sheet`, and updates later
/// operations on these sheets.
fn renumber_added_sheets(
    operations: impl Iterator<Item = Operation>,
    next_sheet: SheetId,
) -> impl Iterator<Item = Operation> {
    let mut next_number = next_sheet.0;
    let mut renumbered_sheets = Vec::<(SheetId, SheetMap)>::new();
    operations.map(move |operation| {
        if let Operation::AddSheet(AddSheet { sheet, name }) = operation {
            let new_sheet = SheetId(next_number);
            next_number = next_number.saturating_add(1);
            let map = SheetMap { target: Some(new_sheet), ..SheetMap::identity(sheet) };
            renumbered_sheets.push((sheet, map));
            return Operation::AddSheet(AddSheet { sheet: new_sheet, name });
        }
        let map = SpaceMap::from_sheets(renumbered_sheets.iter().cloned());
        let redirected = transform(&operation, &map).and_then(|parts| parts.into_iter().next());
        redirected.unwrap_or(operation)
    })
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{DeleteSheet, RenameSheet};

    use super::*;

    #[test]
    fn added_sheets_get_free_numbers_and_later_operations_follow_them() {
        let add = |sheet: u32| {
            Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: format!("s{sheet}") })
        };
        let delete = |sheet| Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) });
        let rename = |sheet| {
            let name = "n".to_owned();
            Operation::RenameSheet(RenameSheet { sheet: SheetId(sheet), name })
        };
        let operations = [delete(5), add(5), rename(5), add(6), delete(6), rename(0)];
        let renumbered: Vec<Operation> =
            renumber_added_sheets(operations.into_iter(), SheetId(3)).collect();
        let named = |sheet, name: &str| {
            Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.into() })
        };
        let expected = [delete(5), named(3, "s5"), rename(3), named(4, "s6"), delete(4), rename(0)];
        assert_eq!(renumbered, expected);
    }
}
