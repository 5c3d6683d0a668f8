//! Edits of other clients that conflict with the next edit.

use super::*;

impl Inner {
    /// Rejects the next mutation, independent of faults of its reply.
    pub(crate) fn reject_next(&mut self, fault: Fault) {
        if let Fault::Rejected(rejection) = fault {
            self.rejection = Some(rejection);
        }
    }

    /// Transforms the next mutation to these operations, independent of faults of its reply.
    pub(crate) fn move_next(&mut self, operations: Vec<Operation>) {
        self.moved = Some(operations);
    }

    /// Rejects this number of undos, because their edits no longer have an effect.
    pub(crate) fn reject_undos(&mut self, count: usize) {
        self.futile_undos = count;
    }

    /// Commits an entry of another client that adds a sheet and deletes another.
    pub(crate) fn replace_sheet(&mut self, id: LogId, added: SheetId, deleted: SheetId) {
        let add =
            Operation::AddSheet(AddSheet { sheet: added, name: "Other".into(), before: None });
        let delete = Operation::DeleteSheet(DeleteSheet { sheet: deleted });
        let base = self.head(id).head;
        let edit = |authored| Mutation { base, authored, committed: None };
        let mutations = vec![edit(add), edit(delete)];
        let client = ClientKey([9; 8]);
        self.push(
            id,
            Content::Edits(Edits { client, name: None, merged: None, first_id: 1, mutations }),
        );
    }
}
