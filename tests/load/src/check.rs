//! Checks of every log after a run.

use std::collections::BTreeMap;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::invariants::{check_no_gap, check_once, check_order};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::Operation;
use serde::Serialize;

use crate::client::{Author, KnownOutcome, by_key};
use crate::stored::{Cells, Log};

/// Maximum number of violations reported for each log.
const MAX_NAMED: usize = 5;

/// The results of all checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckResults {
    /// Number of entries in all logs.
    pub entries: u64,
    /// Number of edits that their clients know to be in the log.
    pub acknowledged: u64,
    /// Number of unanswered edits that are in the log.
    pub unknown_in_the_log: u64,
    /// Number of unanswered edits that are not in the log.
    pub unknown_and_absent: u64,
    /// Number of finished snapshots.
    pub snapshots: u64,
    /// Number of reads of all cells that were compared with a replay.
    pub compared: u64,
    /// Descriptions of all violations.
    #[serde(skip)]
    pub violations: Vec<String>,
}

/// The edits of each client in a log.
type EditsByClient = BTreeMap<ClientKey, Vec<(u64, Position, Operation)>>;

impl CheckResults {
    /// Checks a log against the edits of its clients and the answers that they got.
    pub(crate) fn check(&mut self, log: &Log, authors: &[Author]) {
        let mut wrong = Vec::new();
        let invariants =
            [check_no_gap(&log.entries), check_once(&log.entries), check_order(&log.entries)];
        wrong.extend(invariants.into_iter().filter_map(Result::err).map(|it| it.to_string()));
        check_texts(log, &mut wrong);
        let mut placed = placed(log);
        let here: Vec<_> = authors.iter().filter(|author| author.spreadsheet == log.id).collect();
        for author in here {
            let found = placed.remove(&author.key).unwrap_or_default();
            self.check_author(author, &found, &mut wrong);
        }
        let strangers = placed.keys().map(|key| format!("edits of an unknown client, {key:?}"));
        wrong.extend(strangers);
        self.entries = self.entries.saturating_add(count(log.entries.len()));
        let named = wrong.into_iter().take(MAX_NAMED);
        self.violations.extend(named.map(|violation| format!("{}: {violation}", log.id)));
    }

    /// Checks that each edit is in the log at most once, unchanged, at the acknowledged position,
    /// and that no acknowledged edit is lost.
    fn check_author(
        &mut self,
        author: &Author,
        found: &[(u64, Position, Operation)],
        wrong: &mut Vec<String>,
    ) {
        let by_id: BTreeMap<u64, &(u64, Position, Operation)> =
            found.iter().map(|placed| (placed.0, placed)).collect();
        let name = &author.name;
        if by_id.len() != found.len() {
            wrong.push(format!("{name}: {} edits under {} numbers", found.len(), by_id.len()));
        }
        for (id, intent) in (1..).zip(&author.intents) {
            match (intent.known, by_id.get(&id)) {
                (KnownOutcome::InTheLog(_), None) => {
                    wrong.push(format!("{name}: edit {id} was acknowledged and is lost"));
                }
                (_, Some((_, at, operation))) if *operation != intent.operation => {
                    wrong.push(format!(
                        "{name}: edit {id} at {at} differs from the edit that was sent"
                    ));
                }
                (KnownOutcome::InTheLog(Some(acknowledged_at)), Some((_, at, _)))
                    if acknowledged_at != *at =>
                {
                    wrong.push(format!(
                        "{name}: edit {id} was acknowledged at {acknowledged_at} but is at {at}"
                    ));
                }
                (KnownOutcome::InTheLog(_), Some(_)) => self.acknowledged += 1,
                (KnownOutcome::Unanswered, Some(_)) => self.unknown_in_the_log += 1,
                (KnownOutcome::Unanswered, None) => self.unknown_and_absent += 1,
            }
        }
        let made = count(author.intents.len());
        let more = by_id.keys().filter(|id| **id > made);
        wrong.extend(more.map(|id| format!("{name}: edit {id} was never sent")));
    }

    /// Compares cells that a client has read with those of a replay.
    pub(crate) fn compare(&mut self, who: &str, at: Position, read: &Cells, replayed: &Cells) {
        self.compared += 1;
        if read != replayed {
            let (read_count, count) = (read.len(), replayed.len());
            let first = read.iter().zip(replayed).find(|(read, replayed)| read != replayed);
            let why = format!("{read_count} cells read, {count} replayed; first: {first:?}");
            self.violations
                .push(format!("{who} read cells at {at} that differ from a replay: {why}"));
        }
    }
}

/// Checks that no edit took effect twice. Each edit writes a unique text, so that a copy is found
/// even under another id.
fn check_texts(log: &Log, wrong: &mut Vec<String>) {
    let mut written = BTreeMap::new();
    for entry in &log.entries {
        let mutations = entry.edits().map(|edits| edits.mutations.as_slice()).unwrap_or_default();
        for text in mutations.iter().flat_map(|mutation| texts(&mutation.authored)) {
            if let Some(first) = written.insert(text, entry.position) {
                let again = entry.position;
                wrong.push(format!("{text:?} took effect twice: at {first} and at {again}"));
            }
        }
    }
}

fn texts(operation: &Operation) -> impl Iterator<Item = &String> {
    let cells = match operation {
        Operation::SetCells(set) => set.cells.as_slice(),
        _ => &[],
    };
    cells.iter().filter_map(|cell| match &cell.value {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    })
}

fn placed(log: &Log) -> EditsByClient {
    let mut placed = EditsByClient::new();
    for entry in &log.entries {
        let Some(edits) = entry.edits() else { continue };
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let edit = (id, entry.position, mutation.authored.clone());
            placed.entry(edits.client).or_default().push(edit);
        }
    }
    placed
}

/// Returns whether all authors have distinct client keys.
pub(crate) fn are_distinct(authors: &[Author]) -> bool {
    by_key(authors).len() == authors.len()
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
