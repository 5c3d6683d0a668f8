//! Copy of all stored data, for comparisons.

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
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::ListedFork;
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::PendingSnapshot;

use super::ports::FaultyPorts;

/// All stored records, objects and messages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) entries: BTreeMap<(LogId, Position), Entry>,
    pub(crate) segments: BTreeMap<(LogId, u32), Segment>,
    pub(crate) forks: Vec<ListedFork>,
    pub(crate) pending: Vec<PendingSnapshot>,
    /// Each object's content, and whether the object has the pending tag.
    pub(crate) objects: BTreeMap<String, (Bytes, bool)>,
    /// Distinct queue messages. Duplicates are removed, since every job may be sent more than once.
    pub(crate) messages: BTreeSet<String>,
    /// Event stream items, event batches first. Each item consists of the index of its first event
    /// and its event data.
    pub(crate) streams: Vec<(u64, Vec<Vec<u8>>)>,
    /// The spans of each feed item, in order. The item that ends a partition has no spans.
    pub(crate) feed: Vec<Vec<Span>>,
    /// Entries of all spreadsheet lists.
    pub(crate) lists: Vec<ListEntry>,
    /// Event ranges in each delivery to the webhook receiver.
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
            feed: feed_records(ports, PARTITION_BYTES, |record| {
                match decode_item(record).unwrap().1.content {
                    feed::Content::Spans(spans) => spans,
                    feed::Content::End(_) => vec![],
                }
            }),
            lists: feed_records(ports, LISTED_CREATED, |record| list::decode(record).unwrap()),
            received: received(ports),
        }
    }

    /// Returns a copy without write times, since they differ between runs.
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
            let timeless = |lineage: Lineage| Lineage { forked_s: 0, ..lineage };
            segment.lineage = segment.lineage.map(timeless);
        }
        for fork in &mut stored.forks {
            // Remove fork numbers from fork records, since they are derived from the time.
            (fork.number, fork.created_s) = (0, 0);
        }
        stored.forks.sort_by_key(|fork| fork.fork);
        stored
    }

    /// Asserts that this data equals `expected`.
    pub(crate) fn assert_equals(&self, expected: &Self, what: &str) {
        assert_eq!(self.entries, expected.entries, "{what}: the entries");
        assert_eq!(self.segments, expected.segments, "{what}: the segments");
        assert_eq!(self.forks, expected.forks, "{what}: the lists of forks");
        assert_eq!(self.pending, expected.pending, "{what}: the pending records");
        assert_eq!(self.messages, expected.messages, "{what}: the messages");
        assert_eq!(self.streams, expected.streams, "{what}: the streams");
        assert_eq!(self.feed, expected.feed, "{what}: the feed");
        assert_eq!(self.lists, expected.lists, "{what}: the lists");
        let names = |stored: &Self| {
            let names = stored.objects.iter().map(|(key, (_, pending))| (key.clone(), *pending));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(self), names(expected), "{what}: the objects");
        assert!(self.objects == expected.objects, "{what}: an object has changed");
    }

    /// Asserts that `later` preserves this data (I2), except for the permitted changes: a Snapshot
    /// entry may get a root; a segment may be offloaded, marked and trimmed; an object may lose its
    /// pending tag.
    pub(crate) fn assert_preserved_in(&self, later: &Self, what: &str) {
        let events = |stored: &Self| {
            let events = stored.streams.iter().flat_map(|(_, events)| events.clone());
            events.collect::<Vec<_>>()
        };
        assert!(events(later).starts_with(&events(self)), "{what}: an event is missing");
        assert!(later.feed.starts_with(&self.feed), "{what}: an item of the feed is missing");
        for (key, entry) in &self.entries {
            let first = (key.0, key.1.segment_start());
            let is_trimmed = later.entries.get(&first).is_some_and(Entry::is_trimmed);
            match later.entries.get(key) {
                None => assert!(is_trimmed, "{what}: the entry {key:?} is missing"),
                Some(there) => assert_eq!(
                    without_additions(there),
                    without_additions(entry),
                    "{what}: the entry {key:?}"
                ),
            }
        }
        for (key, segment) in &self.segments {
            let there = &later.segments[key];
            let same = Segment {
                last_snapshot: segment.last_snapshot,
                offloaded: segment.offloaded.clone(),
                ..there.clone()
            };
            assert_eq!(&same, segment, "{what}: the segment {key:?}");
            assert!(
                there.last_snapshot >= segment.last_snapshot,
                "{what}: the last snapshot of {key:?} decreased"
            );
        }
        for (key, (bytes, pending)) in &self.objects {
            let (now, now_pending) = &later.objects[key];
            assert!(now == bytes && (*pending || !now_pending), "{what}: the object {key}");
        }
        assert!(
            self.forks.iter().all(|fork| later.forks.contains(fork)),
            "{what}: a fork is missing"
        );
    }

    pub(crate) fn logs(&self) -> BTreeSet<LogId> {
        self.segments.keys().map(|(log, _)| *log).collect()
    }

    pub(crate) fn entries_of(&self, log: LogId) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(move |entry| entry.log == log)
    }

    pub(crate) fn segments_of(&self, log: LogId) -> Vec<Segment> {
        self.segments.values().filter(|segment| segment.log == log).cloned().collect()
    }
}

/// Decodes the Feed table records that have the given attribute.
fn feed_records<T>(ports: &FaultyPorts, attribute: &str, read: impl Fn(&Item) -> T) -> Vec<T> {
    let records = ports.index.all_records();
    records.iter().filter(|record| record.contains_key(attribute)).map(read).collect()
}

fn received(ports: &FaultyPorts) -> Vec<Vec<EventRange>> {
    let received = ports.received.lock().unwrap();
    let spans = |delivery: &WebhookDelivery| {
        delivery.data.items.iter().flat_map(|item| item.spans.clone()).collect()
    };
    received.iter().map(spans).collect()
}

/// Returns an entry without its root and trim mark, since both may be added later.
fn without_additions(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    if let Content::Snapshot { root, trimmed_s } = &mut entry.content {
        (*root, *trimmed_s) = (None, None);
    }
    entry
}
