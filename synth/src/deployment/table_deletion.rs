//! Decides how the deletion of a DynamoDB table continues. DynamoDB deletes only tables that are
//! active and unprotected, and it deletes them in the background.

use crate::aws::TableDescription;

/// At one read per second, this is ten minutes; DynamoDB usually needs less than one.
pub(crate) const MAX_TABLE_READS: u32 = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableDeletionStep {
    Unprotect,
    Delete,
    /// Wait, because DynamoDB is still changing or deleting the table.
    Wait,
    Finish,
    GiveUp,
}

/// `table` is `None` if the table does not exist. `read_count` is the number of times that the
/// state of the table was read.
pub(crate) fn next_deletion_step(
    table: Option<&TableDescription>,
    read_count: u32,
) -> TableDeletionStep {
    let Some(table) = table else { return TableDeletionStep::Finish };
    if read_count >= MAX_TABLE_READS {
        return TableDeletionStep::GiveUp;
    }
    match table.status.as_str() {
        // In these states, DynamoDB rejects every change of the table.
        "CREATING" | "UPDATING" | "DELETING" | "ARCHIVING" => TableDeletionStep::Wait,
        _ if table.is_protected => TableDeletionStep::Unprotect,
        _ => TableDeletionStep::Delete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(status: &str, is_protected: bool) -> TableDescription {
        let (source_arn, restored_to_s, created_s) = (None, None, None);
        let status = status.to_owned();
        TableDescription {
            source_arn,
            restored_to_s,
            created_s,
            status,
            is_protected,
            max_write_units: None,
        }
    }

    #[test]
    fn deletes_a_table_only_when_it_is_active_and_unprotected() {
        for (table, step) in [
            (table("CREATING", false), TableDeletionStep::Wait),
            (table("ACTIVE", true), TableDeletionStep::Unprotect),
            (table("UPDATING", true), TableDeletionStep::Wait),
            (table("UPDATING", false), TableDeletionStep::Wait),
            (table("ACTIVE", false), TableDeletionStep::Delete),
            (table("INACCESSIBLE_ENCRYPTION_CREDENTIALS", false), TableDeletionStep::Delete),
            (table("DELETING", false), TableDeletionStep::Wait),
        ] {
            assert_eq!(next_deletion_step(Some(&table), 1), step, "{table:?}");
        }
        assert_eq!(next_deletion_step(None, 1), TableDeletionStep::Finish);
    }

    #[test]
    fn gives_up_after_the_maximum_number_of_reads() {
        let deleting = table("DELETING", false);
        assert_eq!(
            next_deletion_step(Some(&deleting), MAX_TABLE_READS - 1),
            TableDeletionStep::Wait
        );
        assert_eq!(next_deletion_step(Some(&deleting), MAX_TABLE_READS), TableDeletionStep::GiveUp);
        assert_eq!(next_deletion_step(None, MAX_TABLE_READS), TableDeletionStep::Finish);
    }
}
