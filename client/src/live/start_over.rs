//! Another incarnation: the spreadsheet was restored to an earlier time, or the edits cannot go on as they
//! are for another reason.

use cellar_api::rebase::OwnEntries;
use cellar_log::transform::{SheetMap, SpaceMap, transform};
use cellar_sheet::operation::{AddSheet, Operation, SheetId};

use super::canonical::Canonical;
use super::sync::{Answers, SetAside};
use super::{LiveError, LiveSheet, client_key, pending_of};
use crate::outbox::{OutboxState, What, new_name};

impl LiveSheet {
    /// Loads what there is now. Edits that may have got through – up to `doubtful`, and those that were
    /// in a request that may have – are set aside; the others are made again, as a new client's.
    ///
    /// The file with what is set aside is written before they are dropped: killed in between, there are
    /// two such files, and no edit is lost.
    pub(super) async fn begin_again(&mut self, doubtful: u64) -> Result<(), LiveError> {
        self.canonical = Canonical::load(&self.source, None).await?;
        // What stands in the log that was restored is not in doubt.
        self.acknowledge_known();
        let doubtful = self.state.attempted.max(doubtful);
        let mut state = OutboxState::fresh(
            self.outbox.key(),
            new_name(),
            self.canonical.incarnation(),
            self.canonical.position(),
        );
        let mut left = self.state.clone();
        let aside = left.take_up_to(doubtful);
        if !aside.is_empty() {
            let file = self.outbox.set_aside(&aside)?;
            self.report.set_aside.push(SetAside { file, edits: aside.len() });
        }
        let again = self.pending.iter().filter(|pending| pending.id > doubtful);
        let next = self.canonical.tail.fold.metadata().tabs.next_sheet();
        let again = renumbered(again.map(|pending| pending.operation.clone()), next);
        for operation in again {
            let (what, object) =
                What::choose(operation).map_err(|fault| LiveError::TooLarge { fault })?;
            self.outbox.author_unsaved(&mut state, what, object)?;
        }
        self.pending = pending_of(&self.outbox, &state)?;
        self.report.made_again += self.pending.len();
        self.own = OwnEntries::new(client_key(self.subject, &state.client));
        (self.state, self.answers) = (state, Answers::default());
        Ok(self.settle().await?)
    }
}

/// Operations of one author on another state: the sheets that they add have numbers that nobody has
/// there, and what they do to these is done to them.
fn renumbered(
    operations: impl Iterator<Item = Operation>,
    next: SheetId,
) -> impl Iterator<Item = Operation> {
    let (mut next, mut moved) = (next.0, Vec::<(SheetId, SheetMap)>::new());
    operations.map(move |operation| {
        if let Operation::AddSheet(AddSheet { sheet, name }) = operation {
            let number = SheetId(next);
            next = next.saturating_add(1);
            moved.push((sheet, SheetMap { target: Some(number), ..SheetMap::identity(sheet) }));
            return Operation::AddSheet(AddSheet { sheet: number, name });
        }
        let map = SpaceMap::from_sheets(moved.iter().cloned());
        let renumbered = transform(&operation, &map).and_then(|done| done.into_iter().next());
        renumbered.unwrap_or(operation)
    })
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{DeleteSheet, RenameSheet};

    use super::*;

    #[test]
    fn new_sheets_get_free_numbers_and_what_is_done_to_them_follows() {
        let add = |sheet: u32| {
            Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: format!("s{sheet}") })
        };
        let delete = |sheet| Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) });
        let rename = |sheet| {
            let name = "n".to_owned();
            Operation::RenameSheet(RenameSheet { sheet: SheetId(sheet), name })
        };
        let made = [delete(5), add(5), rename(5), add(6), delete(6), rename(0)];
        let again: Vec<Operation> = renumbered(made.into_iter(), SheetId(3)).collect();
        let named = |sheet, name: &str| {
            Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.into() })
        };
        let expected = [delete(5), named(3, "s5"), rename(3), named(4, "s6"), delete(4), rename(0)];
        assert_eq!(again, expected);
    }
}
