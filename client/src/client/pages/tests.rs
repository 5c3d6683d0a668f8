//! Tests of lists in pages, with the pages of a fake server.

use std::sync::atomic::{AtomicUsize, Ordering};

use cellar_api::wire::{EntryKind, EntryView, FeedItemView, ForkView};
use cellar_sheet::cell::Cell;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;

use super::*;

/// Reads these pages from the start of the list. Returns the number of requests.
async fn read_all<P: Page + Clone + Sync>(pages: &[P]) -> (Result<Vec<P>, ClientError>, usize) {
    let requests = Arc::new(AtomicUsize::new(0));
    let (counter, pages) = (Arc::clone(&requests), pages.to_vec());
    let stream = read_pages("http://h", &(), None, move |(), _: Option<P::Cursor>| {
        let page = pages[counter.fetch_add(1, Ordering::Relaxed)].clone();
        async move { Ok(page) }
    });
    (stream.collect().await, requests.load(Ordering::Relaxed))
}

async fn assert_complete<P: Page + Clone + Sync + fmt::Debug>(pages: &[P]) {
    let (read, requests) = read_all(pages).await;
    assert_eq!((read.unwrap().len(), requests), (pages.len(), pages.len()));
}

/// The last page is requested, but does not continue the list.
async fn assert_broken<P: Page + Clone + Sync + fmt::Debug>(pages: &[P], expected_start: &str) {
    let (read, requests) = read_all(pages).await;
    let Err(ClientError::BrokenList { start, .. }) = &read else { panic!("{read:?}") };
    assert_eq!((start.as_str(), requests), (expected_start, pages.len()));
}

fn forks(number: u8, next: Option<u64>) -> ForksReply {
    let fork = ForkView {
        id: LogId::from_uuid(uuid::Uuid::from_bytes([number; 16])),
        position: Position::FIRST,
        created_s: u64::from(number),
        author: None,
    };
    ForksReply { forks: vec![fork], next }
}

#[tokio::test]
async fn a_cursor_that_does_not_advance_is_an_error() {
    assert_complete(&[forks(0, Some(1)), forks(1, Some(7)), forks(2, None)]).await;
    assert_complete(&[ForksReply { forks: Vec::new(), next: Some(1) }, forks(0, None)]).await;
    for next in [5, 4] {
        assert_broken(&[forks(0, Some(5)), forks(1, Some(next))], "5").await;
    }
    let changes = |next| ChangesReply { changes: Vec::new(), next };
    assert_complete(&[changes(Some(4)), changes(Some(3)), changes(None)]).await;
    for next in [4, 5] {
        assert_broken(&[changes(Some(4)), changes(Some(next))], "4").await;
    }
}

fn at(number: u32) -> Position {
    Position::new(0, number).unwrap()
}

fn views(numbers: &[u32]) -> Vec<EntryView> {
    let view = |number: &u32| EntryView {
        position: at(*number),
        kind: EntryKind::Edits,
        created_s: 0,
        author: None,
        client_key: None,
        mutations: Vec::new(),
        external_body: None,
        merged: None,
    };
    numbers.iter().map(view).collect()
}

#[tokio::test]
async fn entries_continue_after_the_last_entry_of_a_page() {
    let page = |numbers: &[u32], next: Option<u32>| EntriesReply {
        head: at(9),
        incarnation: 0,
        entries: views(numbers),
        next: next.map(at),
    };
    assert_complete(&[page(&[1, 2], Some(2)), page(&[3], None)]).await;
    assert_complete(&[page(&[1, 2], Some(2)), page(&[], None)]).await;
    let first = || page(&[1, 2], Some(2));
    for second in [first(), page(&[2, 3], None), page(&[], Some(2)), page(&[], Some(4))] {
        assert_broken(&[first(), second], "0.2").await;
    }
    assert_broken(&[page(&[1, 2], Some(4))], "the start").await;
}

#[tokio::test]
async fn a_history_continues_before_the_last_entry_of_a_page() {
    let page = |numbers: &[u32], next: Option<u32>| HistoryReply {
        entries: views(numbers),
        next: next.map(at),
    };
    assert_complete(&[page(&[9, 8], Some(7)), page(&[7], Some(6)), page(&[6], None)]).await;
    for second in [page(&[9, 8], None), page(&[7], Some(7)), page(&[], Some(6))] {
        assert_broken(&[page(&[9, 8], Some(7)), second], "0.7").await;
    }
    assert_broken(&[page(&[9, 8], Some(8))], "the start").await;
}

#[tokio::test]
async fn cells_continue_after_the_last_cell_of_a_page() {
    let page = |cells: &[(u32, u32)], next: Option<&str>| CellsReply {
        sheet: SheetId::FIRST,
        name: "Sheet1".into(),
        position: Position::FIRST,
        incarnation: 0,
        extent: Extent { rows: 9, columns: 9 },
        formats: Vec::new(),
        formats_truncated: false,
        cells: cells
            .iter()
            .map(|&(row, column)| CellAt::new(row, column, Cell::default()))
            .collect(),
        next: next.map(str::to_owned),
    };
    let first = || page(&[(0, 0), (0, 3)], Some("B2"));
    assert_complete(&[first(), page(&[(1, 1)], Some("A3")), page(&[(2, 0)], None)]).await;
    assert_complete(&[first(), page(&[], None)]).await;
    for second in [
        first(),
        page(&[(1, 0)], None),
        page(&[(1, 1)], Some("B2")),
        page(&[(1, 1), (4, 4)], Some("E4")),
        page(&[], Some("C3")),
    ] {
        assert_broken(&[first(), second], "\"B2\"").await;
    }
    for next in ["A1", "D1", "A1:B2", "more"] {
        assert_broken(&[page(&[(0, 0), (0, 3)], Some(next))], "the start").await;
    }
}

#[tokio::test]
async fn a_feed_continues_after_the_checkpoint_of_a_page() {
    let page = |items: &[u64], checkpoint, at_end| FeedReply {
        generation: Some("0".into()),
        items: items
            .iter()
            .map(|checkpoint| FeedItemView {
                checkpoint: *checkpoint,
                indexed_ms: 0,
                spans: Vec::new(),
            })
            .collect(),
        checkpoint,
        at_end,
    };
    assert_complete(&[page(&[1, 2], 2, false), page(&[], 5, false), page(&[], 5, true)]).await;
    let first = || page(&[1, 2], 2, false);
    for second in [first(), page(&[], 2, false), page(&[2], 3, true), page(&[3, 4], 3, false)] {
        assert_broken(&[first(), second], "2").await;
    }
}
