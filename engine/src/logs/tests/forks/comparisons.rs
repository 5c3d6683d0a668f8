//! Comparisons of forks with their sources and with each other.

use super::*;

/// Returns the differing cells as row and texts.
async fn differences(logs: &Logs, from: LogId, to: LogId) -> Vec<(u32, String, String)> {
    let (from_head, to_head) = (head_of(logs, from).await, head_of(logs, to).await);
    let diff = logs.diff_logs((from, from_head), (to, to_head)).await.unwrap();
    let cells = diff.sheets.iter().flat_map(|sheet| &sheet.cells);
    cells.map(|cell| (cell.row, cell.before.text(), cell.after.text())).collect()
}

async fn head_of(logs: &Logs, log: LogId) -> Position {
    logs.head(log, None).await.unwrap().head
}

#[tokio::test]
async fn a_fork_its_source_and_another_fork_are_compared() {
    let tables = Arc::new(MemoryTables::default());
    let (service, source) = (logs(&tables), source_of_one(&tables).await);
    let fork = forked(&service, source, "one", Some(at(0, 3))).await;
    let other = forked(&service, source, "two", Some(at(0, 2))).await;
    let texts = |row, before: &str, after: &str| (row, before.to_owned(), after.to_owned());
    assert_eq!(differences(&service, fork, source).await, []);
    assert_eq!(differences(&service, other, fork).await, [texts(3, "", "3")]);
    service.append(edit(fork, 2, 1, at(0, 1), 1, "fork")).await.unwrap();
    service.append(edit(source, 2, 1, at(0, 1), 2, "source")).await.unwrap();
    let expected = [texts(1, "fork", "1"), texts(2, "2", "source")];
    assert_eq!(differences(&service, fork, source).await, expected);
    let expected = [texts(1, "1", "fork"), texts(2, "source", "2")];
    assert_eq!(differences(&service, source, fork).await, expected);
    assert_eq!(service.last_shared_position(fork, other).await, Ok(at(0, 2)));
    assert_eq!(differences(&service, source, source).await, []);
    // Earlier positions are compared as well.
    let earlier = service.diff_logs((source, at(0, 1)), (fork, at(1, 1))).await.unwrap();
    assert_eq!(earlier.sheets[0].cells.len(), 3);
    let stranger = LogId::derive(&alice(), "stranger").unwrap();
    service.create(stranger, None).await.unwrap();
    let unrelated = service.diff_logs((stranger, at(0, 0)), (fork, at(0, 0))).await;
    assert_eq!(unrelated, Err(LogError::Fork(ForkFault::Unrelated)));
}
