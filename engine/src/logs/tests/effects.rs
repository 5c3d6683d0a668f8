//! Edits of sheets that never existed are rejected, even if the summary of sheets was copied to a
//! new segment or a fork.

use cellar_base::consistency::ReadConsistency;
use cellar_log::append::MutationResult;
use cellar_log::entry::{Edits, Mutation};
use cellar_log::roll::Rolled;
use cellar_sheet::operation::AddSheet;

use super::*;
use crate::logs::NewFork;

fn on_sheet(number: u32) -> Operation {
    let mut operation = set(0, "x");
    if let Operation::SetCells(SetCells { sheet, .. }) = &mut operation {
        *sheet = SheetId(number);
    }
    operation
}

async fn append(
    logs: &Logs,
    log: LogId,
    id: u64,
    base: Position,
    operation: Operation,
) -> MutationResult {
    let mutations = vec![NewMutation { id, base, operation }];
    let client = ClientKey([1; 8]);
    let request = Request::new(log, client, None, FIRST_INCARNATION, id - 1, mutations).unwrap();
    logs.append(request).await.unwrap().results.remove(0)
}

/// Asserts that sheet 77 does not exist, and that sheet 1 does.
async fn check(logs: &Logs, log: LogId, first_id: u64, base: Position) {
    let never = append(logs, log, first_id, base, on_sheet(77)).await.rejection.unwrap();
    assert_eq!(never.detail, "sheet 77 does not exist; the sheets are 0 to 1");
    assert_eq!(append(logs, log, first_id + 1, base, on_sheet(1)).await.rejection, None);
}

fn add() -> Operation {
    Operation::AddSheet(AddSheet { sheet: SheetId(1), name: "Second".to_owned(), before: None })
}

#[tokio::test]
async fn new_segments_and_forks_keep_the_summary_of_sheets() {
    let tables = Arc::new(MemoryTables::default());
    let service = logs(&tables);
    service.create(log(), None).await.unwrap();
    append(&service, log(), 1, Position::FIRST, add()).await;
    check(&logs(&tables), log(), 2, at(0, 1)).await;
    tables.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
    let tail = tables.last(log(), 0, ReadConsistency::Strong).await.unwrap().unwrap();
    assert_eq!(service.roll(tail).await.unwrap(), Rolled::Into { segment: 1 });
    check(&logs(&tables), log(), 4, at(1, 0)).await;
    let subject = SubjectKey::new("test", "effects");
    let fork = LogId::derive_fork(&subject, log(), "fork").unwrap();
    let new = NewFork { log: fork, source: log(), at: Some(at(0, 3)), author: None };
    let head = service.fork(new).await.unwrap().head;
    check(&logs(&tables), fork, 4, head).await;
}

#[tokio::test]
async fn reads_a_summary_that_an_old_entry_lacks() {
    let tables = Arc::new(MemoryTables::default());
    let segment = Segment {
        log: log(),
        num: 0,
        created_s: 0,
        last_snapshot: None,
        offloaded: None,
        lineage: None,
    };
    let first = Entry::first(log(), None, 0);
    let header = Header { summary: None, ..first.header.clone() };
    let first = Entry { header, ..first };
    assert_eq!(tables.create(&segment, &first).await, CreateOutcome::Created);
    let mutations = vec![Mutation { base: Position::FIRST, authored: add(), committed: None }];
    let client = ClientKey([1; 8]);
    let edits = Content::Edits(Edits { client, name: None, merged: None, first_id: 1, mutations });
    let second = Entry { position: at(0, 1), content: edits, ..first };
    assert_eq!(tables.put(&second).await, PutOutcome::Accepted);
    check(&logs(&tables), log(), 2, at(0, 1)).await;
    let tail = tables.last(log(), 0, ReadConsistency::Strong).await.unwrap().unwrap();
    assert!(tail.header.summary.is_some());
}
