//! Tests of the indexer, request by request.

use super::world::{Table, name, span};
use crate::feed::{
    Checkpoint, Content, Feed, FeedId, Indexed, Indexing, IndexingAction, IndexingAnswer,
    IndexingFault, Item, Known, Mark, PartitionPolicy, Rules, Span,
};
use crate::stream::StreamName;
use cellar_base::limits::{
    FEED_PARTITION_BYTES, FEED_PARTITION_ITEMS, FEED_PARTITIONS_PER_INCARNATION, MAX_CACHED_MARKS,
    MAX_FEED_ITEM_EVENTS, MAX_FEED_ITEM_NAME_BYTES, MAX_FEED_ITEM_SPANS, MAX_INDEX_ATTEMPTS,
};
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_log::append::Inputs;

const INPUTS: Inputs = Inputs { now_s: 7, random: 1 };

/// Indexes events in a table. Returns the result, the cached state and the names of the requests.
fn run(
    table: &mut Table,
    known: Known,
    spans: Vec<Span>,
    policy: PartitionPolicy,
) -> (Result<Indexed, IndexingFault>, Known, Vec<&'static str>) {
    let begun =
        Indexing::begin_with_policy_and_rules(known, spans, 0, policy, Rules::default(), INPUTS);
    drive(table, begun)
}

fn drive(
    table: &mut Table,
    (mut indexing, mut action): (Indexing, IndexingAction),
) -> (Result<Indexed, IndexingFault>, Known, Vec<&'static str>) {
    let mut asked = Vec::new();
    loop {
        asked.push(match &action {
            IndexingAction::Finish(ended) => return (ended.clone(), indexing.known(), asked),
            IndexingAction::ReadPartition => "partition",
            IndexingAction::BeginPartition { .. } => "begin",
            IndexingAction::ReadTail { .. } => "tail",
            IndexingAction::ReadMarks { .. } => "marks",
            IndexingAction::RaiseMarks { .. } => "raise",
            IndexingAction::ReadMissing { .. } => "missing",
            IndexingAction::React { .. } => "react",
            IndexingAction::Put { .. } => "put",
            IndexingAction::Wait { .. } => "wait",
        });
        let answer = table.perform(&action);
        (indexing, action) = indexing.step(answer, INPUTS);
    }
}

fn indexed(items: u64, events: u64, found: u64) -> Result<Indexed, IndexingFault> {
    Ok(Indexed { items, events, found })
}

#[test]
fn the_first_indexer_creates_the_feed_and_cached_state_saves_reads() {
    let mut table = Table::default();
    let whole = PartitionPolicy::default();
    let (ended, known, asked) = run(&mut table, Known::default(), vec![span(0, 0, 1)], whole);
    assert_eq!(ended, indexed(1, 1, 0));
    assert_eq!(asked, ["partition", "begin", "marks", "react", "put", "raise"]);
    let (ended, known, asked) = run(&mut table, known, vec![span(0, 1, 2)], whole);
    assert_eq!((ended, asked), (indexed(1, 2, 0), vec!["react", "put", "raise"]));
    // Indexed events cause no requests.
    let (ended, _, asked) = run(&mut table, known, vec![span(0, 0, 3)], whole);
    assert_eq!((ended, asked), (indexed(0, 0, 0), vec![]));
    assert_eq!(table.walk(), [span(0, 0, 1), span(0, 1, 2)]);
}

#[test]
fn without_cached_state_the_end_and_the_marks_are_read() {
    let mut table = Table::default();
    let whole = PartitionPolicy::default();
    run(&mut table, Known::default(), vec![span(0, 0, 1)], whole).0.unwrap();
    let (ended, _, asked) = run(&mut table, Known::default(), vec![span(1, 0, 1)], whole);
    assert_eq!(ended, indexed(1, 1, 0));
    assert_eq!(asked, ["partition", "tail", "marks", "react", "put", "raise"]);
}

#[test]
fn events_without_records_are_read_from_their_stream() {
    let mut table = Table::default();
    table.streams.insert(name(0), 6);
    let whole = PartitionPolicy::default();
    let spans = vec![span(0, 3, 1), span(0, 5, 1)];
    let (ended, _, asked) = run(&mut table, Known::default(), spans, whole);
    assert_eq!(ended, indexed(1, 6, 4));
    assert_eq!(asked.iter().filter(|asked| **asked == "missing").count(), 3);
    assert_eq!(table.walk(), [span(0, 0, 6)]);
}

#[test]
fn an_announced_event_missing_from_its_stream_is_an_error() {
    let mut table = Table::default();
    let spans = vec![span(0, 3, 1)];
    let (ended, _, _) = run(&mut table, Known::default(), spans, PartitionPolicy::default());
    assert_eq!(ended, Err(IndexingFault::NotInStream { stream: name(0), index: 0 }));
    assert_eq!(table.walk(), []);
}

#[test]
fn the_next_indexer_settles_an_item_after_a_crash() {
    let mut table = Table::default();
    let whole = PartitionPolicy::default();
    run(&mut table, Known::default(), vec![span(0, 0, 1)], whole).0.unwrap();
    table.marks.clear();
    let spans = vec![span(0, 0, 1), span(1, 0, 1)];
    let (ended, _, asked) = run(&mut table, Known::default(), spans, whole);
    assert_eq!(ended, indexed(1, 1, 0));
    assert_eq!(asked, ["partition", "tail", "marks", "raise", "react", "put", "raise"]);
    assert_eq!(table.marks[&name(0)], Mark { first_partition: 0, next: 1 });
    assert_eq!(table.walk(), [span(0, 0, 1), span(1, 0, 1)]);
}

#[test]
fn a_refused_indexer_drops_its_cached_state() {
    let mut table = Table::default();
    let whole = PartitionPolicy::default();
    let (_, known, _) = run(&mut table, Known::default(), vec![span(0, 0, 1)], whole);
    // Another indexer indexes the next event and a later one.
    let (_, others, _) = run(&mut table, Known::default(), vec![span(0, 1, 1)], whole);
    run(&mut table, others, vec![span(1, 0, 1)], whole).0.unwrap();
    let (ended, _, asked) = run(&mut table, known, vec![span(0, 1, 1)], whole);
    assert_eq!(ended, indexed(0, 0, 0));
    assert_eq!(asked, ["react", "put", "wait", "partition", "tail", "marks"]);
    assert_eq!(table.walk(), [span(0, 0, 1), span(0, 1, 1), span(1, 0, 1)]);
}

#[test]
fn partitions_end_by_items_and_by_bytes() {
    let size = {
        let mut table = Table::default();
        run(&mut table, Known::default(), vec![span(0, 0, 1)], PartitionPolicy::default())
            .0
            .unwrap();
        table.items[&Checkpoint::START].partition_bytes
    };
    for policy in [
        PartitionPolicy { items: 3, bytes: u64::MAX },
        // Two items reach the limit, one does not.
        PartitionPolicy { items: u64::MAX, bytes: size + 1 },
    ] {
        let mut table = Table::default();
        let mut known = Known::default();
        for first in 0..5 {
            known = run(&mut table, known, vec![span(0, first, 1)], policy).1;
        }
        let ends = table.items.iter().filter(|(_, item)| matches!(item.content, Content::End(_)));
        let ends: Vec<_> = ends.map(|(at, _)| at.number()).collect();
        assert_eq!(ends, [2, 1_000_002], "{policy:?}");
        assert_eq!(table.partitions.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(table.walk().len(), 5);
    }
}

#[test]
fn continues_after_an_ended_partition_without_a_next_one() {
    let mut table = Table::default();
    let policy = PartitionPolicy { items: 2, bytes: u64::MAX };
    run(&mut table, Known::default(), vec![span(0, 0, 1)], policy).0.unwrap();
    let feed = table.partitions[&0];
    let end = Item { time_ms: 1, partition_bytes: 9, content: Content::End(feed) };
    table.items.insert(Checkpoint::at(0, 1).unwrap(), end);
    let (ended, _, asked) = run(&mut table, Known::default(), vec![span(0, 1, 1)], policy);
    assert_eq!(ended, indexed(1, 1, 0));
    assert_eq!(asked[..3], ["partition", "tail", "begin"]);
    assert_eq!(table.partitions[&1], feed);
}

#[test]
fn many_events_are_put_as_several_items() {
    let mut table = Table::default();
    let many = (0..=MAX_FEED_ITEM_SPANS).map(|stream| span(stream, 0, 1)).collect();
    let whole = PartitionPolicy::default();
    let (ended, _, _) = run(&mut table, Known::default(), many, whole);
    assert_eq!(ended.unwrap().items, 2);
    let mut table = Table::default();
    let events = u64::try_from(MAX_FEED_ITEM_EVENTS).unwrap();
    for (events, items) in [(events, 1), (events + 1, 2)] {
        let mut table = Table::default();
        let (ended, _, _) = run(&mut table, Known::default(), vec![span(0, 0, events)], whole);
        assert_eq!(ended, indexed(items, events, 0));
    }
    run(&mut table, Known::default(), vec![], whole).0.unwrap();
    assert!(table.partitions.is_empty(), "no events cause no requests");
}

#[test]
fn a_rebuild_starts_an_empty_feed_after_the_old_one() {
    let mut table = Table::default();
    table.streams.insert(name(0), 2);
    let whole = PartitionPolicy::default();
    let (_, known, _) = run(&mut table, Known::default(), vec![span(0, 0, 2)], whole);
    let anew = Indexing::begin_rebuild(0, Inputs { now_s: 8, random: 9 });
    drive(&mut table, anew).0.unwrap();
    let feed = Feed { id: FeedId(1_u64.to_le_bytes()), first_partition: 1 };
    assert_eq!((table.partitions[&1], table.walk()), (feed, vec![]));
    // An indexer with state of the old generation is refused and continues in the new generation.
    table.streams.insert(name(0), 3);
    let (ended, _, asked) = run(&mut table, known, vec![span(0, 2, 1)], whole);
    assert_eq!((ended, asked[..2].to_vec()), (indexed(1, 3, 2), vec!["react", "put"]));
    assert_eq!(table.walk(), [span(0, 0, 3)]);
    // A late mark of the old generation has no effect.
    let late = Mark { first_partition: 0, next: 99 };
    table.perform(&IndexingAction::RaiseMarks { marks: vec![(name(0), late)] });
    assert_eq!(table.marks[&name(0)], Mark { first_partition: 1, next: 3 });
}

#[test]
fn restored_tables_have_a_feed_after_all_earlier_partitions() {
    let (mut indexing, mut action) =
        Indexing::begin(Known::default(), vec![span(0, 0, 1)], 2, INPUTS);
    let mut table = Table::default();
    while !matches!(action, IndexingAction::Finish(_)) {
        let answer = table.perform(&action);
        (indexing, action) = indexing.step(answer, INPUTS);
    }
    assert_eq!(
        table.partitions.keys().copied().collect::<Vec<_>>(),
        [2 * FEED_PARTITIONS_PER_INCARNATION]
    );
}

#[test]
fn limits_the_attempts_of_an_indexer() {
    for (bad, fault) in [
        (IndexingAnswer::Exists, IndexingFault::Contention),
        (IndexingAnswer::Unknown, IndexingFault::Contention),
        (IndexingAnswer::Failed { temporary: true }, IndexingFault::Store),
        (IndexingAnswer::Failed { temporary: false }, IndexingFault::Store),
    ] {
        let mut table = Table::default();
        let (mut indexing, mut action) =
            Indexing::begin(Known::default(), vec![span(0, 0, 1)], 0, INPUTS);
        let mut puts = 0;
        let ended = loop {
            let answer = match &action {
                IndexingAction::Finish(ended) => break ended.clone(),
                IndexingAction::Put { .. } => {
                    puts += 1;
                    bad.clone()
                }
                action => table.perform(action),
            };
            (indexing, action) = indexing.step(answer, INPUTS);
        };
        assert_eq!(ended, Err(fault));
        let tries = if bad == (IndexingAnswer::Failed { temporary: false }) {
            1
        } else {
            MAX_INDEX_ATTEMPTS
        };
        assert_eq!(puts, tries, "{bad:?}");
        assert_eq!(indexing.known(), Known::default(), "a failure drops the cached state");
    }
}

#[test]
fn an_answer_that_does_not_fit_the_phase_is_no_store_failure() {
    let begin = || Indexing::begin(Known::default(), vec![span(0, 0, 1)], 0, INPUTS).0;
    let waiting = || begin().step(IndexingAnswer::Failed { temporary: true }, INPUTS).0;
    let failed = IndexingAnswer::Failed { temporary: true };
    for (indexing, answer, phase) in [
        (begin(), IndexingAnswer::Done, "ReadPartition"),
        (begin(), IndexingAnswer::Waited, "ReadPartition"),
        (waiting(), IndexingAnswer::Partition(None), "Waiting"),
        (waiting(), failed.clone(), "Waiting"),
        (begin().step(IndexingAnswer::Done, INPUTS).0, failed, "Finished"),
    ] {
        let fault = UnexpectedEvent { machine: "feed indexer", phase, event: answer.name() };
        let (_, action) = indexing.step(answer, INPUTS);
        assert_eq!(action, IndexingAction::Finish(Err(IndexingFault::Unexpected(fault))));
    }
}

/// Returns the content of the item that is put after an item at `offset` with `partition_bytes`.
fn content_after(offset: u64, partition_bytes: u64) -> Content {
    let mut table = Table::default();
    let feed = Feed { id: FeedId([1; 8]), first_partition: 0 };
    table.partitions.insert(0, feed);
    let content = Content::Spans(vec![span(1, 0, 1)]);
    let last = Item { time_ms: 1, partition_bytes, content };
    table.items.insert(Checkpoint::at(0, offset).unwrap(), last);
    let whole = PartitionPolicy::default();
    run(&mut table, Known::default(), vec![span(0, 0, 1)], whole).0.unwrap();
    table.items[&Checkpoint::at(0, offset + 1).unwrap()].content.clone()
}

#[test]
fn limits_the_bytes_and_items_of_a_partition() {
    let more = Content::Spans(vec![span(0, 0, 1)]);
    assert_eq!(content_after(0, FEED_PARTITION_BYTES - 1), more);
    assert!(matches!(content_after(0, FEED_PARTITION_BYTES), Content::End(_)));
    assert_eq!(content_after(FEED_PARTITION_ITEMS - 3, 1), more);
    assert!(
        matches!(content_after(FEED_PARTITION_ITEMS - 2, 1), Content::End(_)),
        "the last place"
    );
}

#[test]
fn limits_the_bytes_of_the_names_in_an_item() {
    // The number of streams and the length of each name are within their limits.
    let (streams, long) = (100, 163);
    let rest = MAX_FEED_ITEM_NAME_BYTES - (streams - 1) * long;
    let named = |number: usize, bytes: usize| Span {
        stream: StreamName::new("S", &format!("{number:0>width$}", width = bytes - 2)).unwrap(),
        first: 0,
        kinds: span(0, 0, 1).kinds,
    };
    for (last, items) in [(rest, 1), (rest + 1, 2)] {
        let mut spans: Vec<_> = (1..streams).map(|number| named(number, long)).collect();
        spans.push(named(streams, last));
        let whole = PartitionPolicy::default();
        let (ended, _, _) = run(&mut Table::default(), Known::default(), spans, whole);
        assert_eq!(ended.unwrap().items, items);
    }
}

#[test]
fn limits_the_number_of_cached_marks() {
    let mut known = Known::default();
    for stream in 0..=MAX_CACHED_MARKS {
        let is_known = |known: &Known| known.mark(&name(0)).is_some();
        known.raise_mark(name(stream), 1);
        known = known.limit_marks();
        assert_eq!(is_known(&known), stream < MAX_CACHED_MARKS, "{stream}");
    }
}
