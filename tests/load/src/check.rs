//! Checks every log after a run.

use std::collections::BTreeMap;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::invariants::{check_no_gap, check_once, check_order};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::Operation;
use serde::Serialize;

use crate::client::{Author, Intent, KnownOutcome, by_key};
use crate::stored::{Cells, Log};

/// Maximum number of violations reported per log.
const MAX_VIOLATIONS_PER_LOG: usize = 5;

/// The results of all checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckResults {
    /// Number of entries in all logs.
    pub entries: u64,
    /// Number of edits whose clients know that they are in the log.
    pub acknowledged: u64,
    /// Number of edits without a response that are in the log.
    pub unknown_in_the_log: u64,
    /// Number of edits without a response that are not in the log.
    pub unknown_and_absent: u64,
    /// Number of finished snapshots.
    pub snapshots: u64,
    /// Number of reads of all cells that were compared with a replay of the log.
    pub compared: u64,
    /// Descriptions of all violations.
    #[serde(skip)]
    pub violations: Vec<String>,
}

/// An edit as stored in the log.
struct LoggedEdit {
    id: u64,
    position: Position,
    operation: Operation,
}

/// The edits in a log, grouped by client.
type EditsByClient = BTreeMap<ClientKey, Vec<LoggedEdit>>;

impl CheckResults {
    /// Compares a log with the edits that its clients sent and the responses that they received.
    pub(crate) fn check(&mut self, log: &Log, authors: &[Author]) {
        let mut violations = Vec::new();
        for check_result in
            [check_no_gap(&log.entries), check_once(&log.entries), check_order(&log.entries)]
        {
            if let Err(violation) = check_result {
                violations.push(violation.to_string());
            }
        }
        violations.extend(repeated_texts(log));
        let mut unchecked_edits = edits_by_client(log);
        for author in authors {
            if author.spreadsheet == log.id {
                let logged_edits = unchecked_edits.remove(&author.key).unwrap_or_default();
                violations.extend(self.check_author(author, &logged_edits));
            }
        }
        for unknown_client in unchecked_edits.keys() {
            violations.push(format!("edits of an unknown client, {unknown_client:?}"));
        }
        self.entries = self.entries.saturating_add(to_u64(log.entries.len()));
        for violation in violations.into_iter().take(MAX_VIOLATIONS_PER_LOG) {
            self.violations.push(format!("{}: {violation}", log.id));
        }
    }

    /// Checks that each edit is in the log at most once, unchanged and at the acknowledged
    /// position, and that no acknowledged edit is missing.
    fn check_author(&mut self, author: &Author, logged_edits: &[LoggedEdit]) -> Vec<String> {
        let mut violations = Vec::new();
        let logged_by_id: BTreeMap<u64, &LoggedEdit> =
            logged_edits.iter().map(|logged_edit| (logged_edit.id, logged_edit)).collect();
        let name = &author.name;
        if logged_by_id.len() != logged_edits.len() {
            let (edit_count, id_count) = (logged_edits.len(), logged_by_id.len());
            violations.push(format!("{name}: {edit_count} edits under {id_count} numbers"));
        }
        for (id, intent) in (1..).zip(&author.intents) {
            let checked = match logged_by_id.get(&id) {
                Some(logged_edit) => self.check_logged_edit(intent, logged_edit),
                None => self.check_absent_edit(intent),
            };
            if let Err(violation) = checked {
                violations.push(format!("{name}: edit {id} {violation}"));
            }
        }
        let sent_count = to_u64(author.intents.len());
        for id in logged_by_id.keys() {
            if *id > sent_count {
                violations.push(format!("{name}: edit {id} was never sent"));
            }
        }
        violations
    }

    fn check_logged_edit(
        &mut self,
        intent: &Intent,
        logged_edit: &LoggedEdit,
    ) -> Result<(), String> {
        let position = logged_edit.position;
        if logged_edit.operation != intent.operation {
            return Err(format!("at {position} differs from the edit that was sent"));
        }
        match intent.known {
            KnownOutcome::InTheLog(Some(acknowledged_position))
                if acknowledged_position != position =>
            {
                return Err(format!(
                    "was acknowledged at {acknowledged_position} but is at {position}"
                ));
            }
            KnownOutcome::InTheLog(_) => self.acknowledged += 1,
            KnownOutcome::Unanswered => self.unknown_in_the_log += 1,
        }
        Ok(())
    }

    fn check_absent_edit(&mut self, intent: &Intent) -> Result<(), String> {
        match intent.known {
            KnownOutcome::InTheLog(_) => Err("was acknowledged and is lost".to_owned()),
            KnownOutcome::Unanswered => {
                self.unknown_and_absent += 1;
                Ok(())
            }
        }
    }

    /// Compares the cells that a client has read with the cells of a replay of the log.
    pub(crate) fn compare(
        &mut self,
        client_name: &str,
        position: Position,
        read_cells: &Cells,
        replayed_cells: &Cells,
    ) {
        self.compared += 1;
        if read_cells == replayed_cells {
            return;
        }
        let first_difference =
            read_cells.iter().zip(replayed_cells).find(|(read, replayed)| read != replayed);
        let (read_count, replayed_count) = (read_cells.len(), replayed_cells.len());
        self.violations.push(format!(
            "{client_name} read cells at {position} that differ from a replay: {read_count} cells \
             read, {replayed_count} replayed; first: {first_difference:?}"
        ));
    }
}

/// Describes the edits that took effect twice. Each edit writes a unique text, so that a copy is
/// found even if it has another id.
fn repeated_texts(log: &Log) -> Vec<String> {
    let mut violations = Vec::new();
    let mut positions_by_text = BTreeMap::new();
    for entry in &log.entries {
        let position = entry.position;
        let Some(edits) = entry.edits() else { continue };
        for text in edits.mutations.iter().flat_map(|mutation| written_texts(&mutation.authored)) {
            if let Some(first_position) = positions_by_text.insert(text, position) {
                violations.push(format!(
                    "{text:?} took effect twice: at {first_position} and at {position}"
                ));
            }
        }
    }
    violations
}

fn written_texts(operation: &Operation) -> Vec<&String> {
    let Operation::SetCells(set_cells) = operation else { return Vec::new() };
    let mut texts = Vec::new();
    for cell in &set_cells.cells {
        if let Some(Value::Text(text)) = &cell.value {
            texts.push(text);
        }
    }
    texts
}

fn edits_by_client(log: &Log) -> EditsByClient {
    let mut edits_by_client = EditsByClient::new();
    for entry in &log.entries {
        let Some(edits) = entry.edits() else { continue };
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            edits_by_client.entry(edits.client).or_default().push(LoggedEdit {
                id,
                position: entry.position,
                operation: mutation.authored.clone(),
            });
        }
    }
    edits_by_client
}

/// Returns whether each author has a different client key.
pub(crate) fn are_distinct(authors: &[Author]) -> bool {
    by_key(authors).len() == authors.len()
}

fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
