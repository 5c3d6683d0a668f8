//! Contract tests for the Feed table.

use cellar_base::limits::{FEED_PARTITION_ITEMS, MAX_FEED_ITEM_EVENTS};
use cellar_catalog::feed::{Checkpoint, Content, Feed, FeedId, Item, Mark, Span};
use cellar_catalog::stream::{InvalidEvent, Kind, StreamName};

use crate::ports::{FeedTable, FeedWriteOutcome, ReadConsistency};

/// Checks an implementation of the Feed table. The table must be empty.
pub async fn feed_table<T: FeedTable>(table: &T) {
    partitions_are_begun_once_and_the_newest_is_found(table).await;
    items_are_put_once_and_read_in_order(table).await;
    the_largest_item_reads_back(table).await;
    marks_only_rise(table).await;
}

fn feed_with_id(id: u8, first_partition: u64) -> Feed {
    Feed { id: FeedId([id; 8]), first_partition }
}

fn stream_name(id: &str) -> StreamName {
    StreamName::new("Contract", id).unwrap_or_else(|error| panic!("{error}"))
}

fn checkpoint(partition: u64, offset: u64) -> Checkpoint {
    Checkpoint::at(partition, offset).unwrap_or_else(|error| panic!("{error}"))
}

fn feed_item(id: &str, first: u64, events: usize) -> Item {
    let kind: Result<Kind, InvalidEvent> = Kind::new("Said");
    let kind = kind.unwrap_or_else(|error| panic!("{error}"));
    let span = Span { stream: stream_name(id), first, kinds: vec![kind; events] };
    Item {
        time_ms: 1_795_246_133_000 + first,
        partition_bytes: 7,
        content: Content::Spans(vec![span]),
    }
}

fn expect_ok<T>(result: Result<T, crate::ports::PortError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

async fn partitions_are_begun_once_and_the_newest_is_found<T: FeedTable>(table: &T) {
    assert_eq!(expect_ok(table.newest_partition(ReadConsistency::Strong).await), None);
    for (partition, partition_feed) in
        [(9, feed_with_id(1, 9)), (10, feed_with_id(1, 9)), (11, feed_with_id(2, 11))]
    {
        assert_eq!(table.begin_partition(partition, partition_feed).await, FeedWriteOutcome::Done);
        assert_eq!(
            table.begin_partition(partition, feed_with_id(3, 0)).await,
            FeedWriteOutcome::Exists
        );
        assert_eq!(
            expect_ok(table.newest_partition(ReadConsistency::Strong).await),
            Some((partition, partition_feed))
        );
    }
}

async fn items_are_put_once_and_read_in_order<T: FeedTable>(table: &T) {
    let last_offset = FEED_PARTITION_ITEMS - 1;
    assert_eq!(expect_ok(table.last_item(9).await), None);
    assert_eq!(expect_ok(table.items(checkpoint(9, 0), 10, ReadConsistency::Strong).await), vec![]);
    let end_item =
        Item { time_ms: 1, partition_bytes: 9, content: Content::End(feed_with_id(1, 9)) };
    let items = [
        (0, feed_item("a", 0, 1)),
        (1, feed_item("b", 0, 2)),
        (2, feed_item("a", 1, 3)),
        (last_offset, end_item),
    ];
    for (offset, item) in &items {
        assert_eq!(table.put_item(checkpoint(9, *offset), item).await, FeedWriteOutcome::Done);
        assert_eq!(expect_ok(table.last_item(9).await), Some((*offset, item.clone())));
    }
    assert_eq!(
        table.put_item(checkpoint(9, 1), &feed_item("c", 0, 1)).await,
        FeedWriteOutcome::Exists
    );
    // The decimal form of one partition number is a prefix of the other, so a query by key prefix
    // would return items of both partitions.
    assert_eq!(
        table.put_item(checkpoint(90, 0), &feed_item("d", 0, 1)).await,
        FeedWriteOutcome::Done
    );
    for consistency in [ReadConsistency::Strong, ReadConsistency::Eventual] {
        assert_eq!(expect_ok(table.items(checkpoint(9, 0), 10, consistency).await), items);
        assert_eq!(expect_ok(table.items(checkpoint(9, 1), 2, consistency).await), items[1..3]);
        assert_eq!(expect_ok(table.items(checkpoint(9, 3), 10, consistency).await), items[3..]);
    }
}

async fn the_largest_item_reads_back<T: FeedTable>(table: &T) {
    let largest_item = feed_item("most", 0, MAX_FEED_ITEM_EVENTS);
    assert_eq!(table.put_item(checkpoint(20, 0), &largest_item).await, FeedWriteOutcome::Done);
    assert_eq!(expect_ok(table.last_item(20).await), Some((0, largest_item)));
}

async fn marks_only_rise<T: FeedTable>(table: &T) {
    let mark = |first_partition, next| Mark { first_partition, next };
    let stream = stream_name("marked");
    assert_eq!(expect_ok(table.mark(&stream).await), None);
    for (new_mark, stored_mark) in [
        (mark(0, 3), mark(0, 3)),
        (mark(0, 2), mark(0, 3)),
        (mark(0, 3), mark(0, 3)),
        (mark(0, 10), mark(0, 10)),
        // The high-water mark of a later feed replaces the mark of an earlier feed.
        (mark(7, 1), mark(7, 1)),
        (mark(0, 99), mark(7, 1)),
    ] {
        expect_ok(table.raise_mark(&stream, new_mark).await);
        assert_eq!(expect_ok(table.mark(&stream).await), Some(stored_mark), "{new_mark:?}");
    }
}
