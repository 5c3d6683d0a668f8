//! A copy of all stored data, which tests compare.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use cellar_api::{wire::EventRange, wire::WebhookDelivery};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_base::record::Item;
use cellar_base::table_attributes::{LISTED_CREATED, PARTITION_BYTES};
use cellar_catalog::feed::{self, Span};
use cellar_catalog::records::feed::decode_item;
use cellar_catalog::records::list;
use cellar_catalog::spreadsheet::ListEntry;
use cellar_log::entry::{Content, Entry};

use cellar_log::records::fork::ListedFork;
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::PendingSnapshot;

use super::ports::FaultyPorts;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) entries: BTreeMap<(LogId, Position), Entry>,
    pub(crate) segments: BTreeMap<(LogId, u32), Segment>,
    pub(crate) forks: Vec<ListedFork>,
    pub(crate) pending: Vec<PendingSnapshot>,
    /// For each object key, the content and whether the object has the pending tag.
    pub(crate) objects: BTreeMap<String, (Bytes, bool)>,
    /// Duplicates are omitted, since a job may be sent more than once.
    pub(crate) messages: BTreeSet<String>,
    /// Items of each event stream, with the latest item at the end. An item is the index of its
    /// first event and its encoded events.
    pub(crate) streams: Vec<(u64, Vec<Vec<u8>>)>,
    /// Spans of each feed item, in feed order. The item that ends a partition has no spans.
    pub(crate) feed: Vec<Vec<Span>>,
    pub(crate) lists: Vec<ListEntry>,
    pub(crate) received: Vec<Vec<EventRange>>,
}

impl Stored {
    pub(crate) fn read(ports: &FaultyPorts) -> Self {
        let (entries, segments, forks) = ports.tables.contents();
        let entries = entries.into_iter().map(|entry| ((entry.log, entry.position), entry));
        let segments = segments.into_iter().map(|segment| ((segment.log, segment.num), segment));
        Self {
            entries: entries.collect(),
            segments: segments.collect(),
            forks,
            pending: ports.pending.records(),
            objects: ports.blobs.contents(),
            messages: ports.queue.bodies().into_iter().collect(),
            streams: ports.streams.contents(),
            feed: decode_feed_records(ports, PARTITION_BYTES, spans_of_item),
            lists: decode_feed_records(ports, LISTED_CREATED, |record| {
                list::decode(record).unwrap()
            }),
            received: received_ranges(ports),
        }
    }

    /// Returns a copy in which all write times are 0, since times differ between runs.
    pub(crate) fn without_times(&self) -> Self {
        let mut stored = self.clone();
        for entry in stored.entries.values_mut() {
            entry.created_s = 0;
            if let Content::Snapshot { trimmed_s: Some(trimmed_s), .. } = &mut entry.content {
                *trimmed_s = 0;
            }
        }
        for segment in stored.segments.values_mut() {
            segment.created_s = 0;
            if let Some(lineage) = &mut segment.lineage {
                lineage.forked_s = 0;
            }
        }
        for fork in &mut stored.forks {
            fork.created_s = 0;
            // Remove the numbers of the fork records, since they are derived from the time.
            fork.number = 0;
        }
        stored.forks.sort_by_key(|fork| fork.fork);
        stored
    }

    pub(crate) fn assert_equals(&self, expected: &Self, context: &str) {
        assert_eq!(self.entries, expected.entries, "{context}: the entries");
        assert_eq!(self.segments, expected.segments, "{context}: the segments");
        assert_eq!(self.forks, expected.forks, "{context}: the lists of forks");
        assert_eq!(self.pending, expected.pending, "{context}: the pending records");
        assert_eq!(self.messages, expected.messages, "{context}: the messages");
        assert_eq!(self.streams, expected.streams, "{context}: the streams");
        assert_eq!(self.feed, expected.feed, "{context}: the feed");
        assert_eq!(self.lists, expected.lists, "{context}: the lists");
        assert_eq!(self.keys_and_tags(), expected.keys_and_tags(), "{context}: the objects");
        assert!(self.objects == expected.objects, "{context}: an object has changed");
    }

    fn keys_and_tags(&self) -> Vec<(&str, bool)> {
        self.objects.iter().map(|(key, (_, is_pending))| (key.as_str(), *is_pending)).collect()
    }

    /// Asserts that `later` contains all of this data unchanged (I2), except for permitted changes:
    /// A Snapshot entry may get a root. A segment may be offloaded and trimmed. An object may lose
    /// its pending tag.
    pub(crate) fn assert_preserved_in(&self, later: &Self, context: &str) {
        assert!(later.events().starts_with(&self.events()), "{context}: an event is missing");
        assert!(later.feed.starts_with(&self.feed), "{context}: a feed item is missing");
        self.assert_entries_preserved_in(later, context);
        self.assert_segments_preserved_in(later, context);
        self.assert_objects_preserved_in(later, context);
        for fork in &self.forks {
            assert!(later.forks.contains(fork), "{context}: the fork {} is missing", fork.fork);
        }
    }

    fn assert_objects_preserved_in(&self, later: &Self, context: &str) {
        for (key, (bytes, is_pending)) in &self.objects {
            let (later_bytes, is_pending_later) = &later.objects[key];
            assert!(later_bytes == bytes, "{context}: the object {key} has changed");
            let got_pending_tag = !is_pending && *is_pending_later;
            assert!(!got_pending_tag, "{context}: the object {key} got a pending tag");
        }
    }

    fn events(&self) -> Vec<&Vec<u8>> {
        self.streams.iter().flat_map(|(_, events)| events).collect()
    }

    fn assert_entries_preserved_in(&self, later: &Self, context: &str) {
        for ((log_id, position), entry) in &self.entries {
            match later.entries.get(&(*log_id, *position)) {
                Some(later_entry) => assert_eq!(
                    without_additions(later_entry),
                    without_additions(entry),
                    "{context}: the entry {log_id} {position}"
                ),
                None => {
                    let first_entry = later.entries.get(&(*log_id, position.segment_start()));
                    let is_trimmed = first_entry.is_some_and(Entry::is_trimmed);
                    assert!(is_trimmed, "{context}: the entry {log_id} {position} is missing");
                }
            }
        }
    }

    fn assert_segments_preserved_in(&self, later: &Self, context: &str) {
        for (key, segment) in &self.segments {
            let later_segment = &later.segments[key];
            let without_changes = Segment {
                last_snapshot: segment.last_snapshot,
                offloaded: segment.offloaded.clone(),
                ..later_segment.clone()
            };
            assert_eq!(&without_changes, segment, "{context}: the segment {key:?}");
            assert!(
                later_segment.last_snapshot >= segment.last_snapshot,
                "{context}: the last snapshot of {key:?} decreased"
            );
        }
    }

    pub(crate) fn logs(&self) -> BTreeSet<LogId> {
        self.segments.keys().map(|(log_id, _)| *log_id).collect()
    }

    pub(crate) fn entries_of(&self, log_id: LogId) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(move |entry| entry.log == log_id)
    }

    pub(crate) fn segments_of(&self, log_id: LogId) -> Vec<Segment> {
        self.segments.values().filter(|segment| segment.log == log_id).cloned().collect()
    }
}

fn decode_feed_records<T>(
    ports: &FaultyPorts,
    attribute: &str,
    decode: impl Fn(&Item) -> T,
) -> Vec<T> {
    let records = ports.index.all_records();
    records.iter().filter(|record| record.contains_key(attribute)).map(decode).collect()
}

fn spans_of_item(record: &Item) -> Vec<Span> {
    match decode_item(record).unwrap().1.content {
        feed::Content::Spans(spans) => spans,
        feed::Content::End(_) => vec![],
    }
}

fn received_ranges(ports: &FaultyPorts) -> Vec<Vec<EventRange>> {
    let deliveries = ports.received.lock().unwrap();
    let ranges_of = |delivery: &WebhookDelivery| {
        delivery.data.items.iter().flat_map(|item| item.spans.clone()).collect()
    };
    deliveries.iter().map(ranges_of).collect()
}

/// Returns a copy of the entry without its snapshot root and trim mark, which are the only
/// attributes that may be added to an existing entry.
fn without_additions(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Content::Snapshot { root, trimmed_s } = &mut entry.content {
        *root = None;
        *trimmed_s = None;
    }
    entry
}
