//! Forks of a spreadsheet with snapshots: after a snapshot, before any, at the end of a segment,
//! and during writes; and snapshots of forks.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar::reader::Reader;
use cellar_engine::ports::Blobs as _;

use super::*;
use crate::snapshot_reads::{
    Author, FastClock, cells, operation, replayed, start, wait_for_snapshot,
};

/// Returns the author of a fork: the same client, whose numbering continues.
fn author_of(fork: &ForkReply, source: &Author, edits: u64) -> Author {
    let created = cellar_api::wire::CreateReply { id: fork.id, ..source.created };
    Author { created, base: fork.head, id: edits }
}

/// Returns the keys of all snapshot objects.
async fn objects(cloud: &TestCloud) -> BTreeSet<String> {
    let (blobs, _) = cloud.blobs();
    let (mut keys, mut after) = (BTreeSet::new(), None);
    loop {
        let page = blobs.list("sheets/", after.as_deref(), 1_000).await.unwrap();
        keys.extend(page.blobs.into_iter().map(|blob| blob.key));
        after = page.next;
        if after.is_none() {
            return keys;
        }
    }
}

/// A source with several segments, and its positions with edits, starting with the first entry.
struct Source {
    cloud: TestCloud,
    clock: Arc<FastClock>,
    author: Author,
    positions: Vec<Position>,
}

impl Source {
    /// Makes 130 edits, which span two segments.
    async fn start() -> Self {
        let clock = Arc::new(FastClock::default());
        let cloud = start(&clock).await;
        let mut author = Author::new(&cloud, "forked").await;
        let mut positions = vec![author.base];
        for number in 0..130 {
            positions.push(author.edit(&cloud, operation(number)).await);
        }
        assert_eq!(author.base.segment(), 1);
        wait_for_snapshot(&cloud, author.created.id, positions[118], &clock).await;
        Self { cloud, clock, author, positions }
    }

    fn id(&self) -> LogId {
        self.author.created.id
    }

    /// Returns positions of every kind: the first entry; before any snapshot; at and after a
    /// Snapshot entry; the last edit of a segment, its End Segment, and the next segment; the last
    /// entry.
    async fn places(&self) -> [Position; 8] {
        let last = *self.positions.iter().rfind(|own| own.segment() == 0).unwrap();
        let client = self.cloud.client("alice");
        let ended = client.spreadsheet(self.id()).history_page(Some(last), Some(1)).await.unwrap();
        assert_eq!(ended.entries[0].position, last);
        let end_segment = last.next_in_segment().unwrap();
        let at = |num| Position::new(0, num).unwrap();
        let next = Position::new(1, 0).unwrap();
        [at(0), at(5), at(11), at(40), last, end_segment, next, self.author.base]
    }

    /// Forks at a position, and checks that the fork has the source's cells at every position.
    async fn forked_at(&self, place: Position) -> ForkReply {
        let (cloud, source) = (&self.cloud, self.id());
        let made = fork(cloud, source, &place.to_string(), Some(place)).await;
        assert_eq!((made.source, made.position), (source, place));
        for own in self.positions.iter().filter(|own| **own <= place).step_by(17) {
            let there = cells(cloud, made.id, *own).await;
            assert_eq!(there, cells(cloud, source, *own).await, "{place} at {own}");
        }
        let newest = cells(cloud, made.id, made.head).await;
        assert_eq!(newest, cells(cloud, source, place).await, "{place}");
        made
    }

    /// Edits a fork until it has its own snapshot. Returns its newest position.
    async fn edit_until_snapshot(&self, made: &ForkReply) -> Position {
        let (cloud, place) = (&self.cloud, made.position);
        let written = self.positions.iter().filter(|own| **own <= place).count() as u64 - 1;
        let mut own = author_of(made, &self.author, written);
        for number in 500..512 {
            own.edit(cloud, operation(number)).await;
        }
        let is_replayed = async |how: &str| {
            let there = cells(cloud, made.id, own.base).await;
            assert_eq!(there, replayed(cloud, made.id, own.base).await, "{place}, {how}");
        };
        is_replayed("and edited").await;
        // The first own Snapshot entry, and the entry after ten edits.
        let marked = Position::new(own.base.segment(), 11).unwrap();
        wait_for_snapshot(cloud, made.id, marked, &self.clock).await;
        let reader =
            Reader::open(cloud.client("alice").spreadsheet(made.id), None, None).await.unwrap();
        assert_eq!(reader.position(), own.base);
        let stats = cloud.client("alice").spreadsheet(made.id).stats(None).await.unwrap();
        assert_eq!(stats.snapshot.unwrap().position, marked);
        is_replayed("by its own snapshot").await;
        own.base
    }

    /// Forks a fork at an own position and at an inherited position.
    async fn fork_deeper(&self, made: &ForkReply, head: Position) {
        let cloud = &self.cloud;
        let deeper = fork(cloud, made.id, "deeper", Some(head)).await;
        assert_eq!(deeper.source, made.id);
        let there = cells(cloud, deeper.id, deeper.head).await;
        assert_eq!(there, cells(cloud, made.id, head).await);
        let early = fork(cloud, made.id, "early", Some(Position::FIRST)).await;
        assert_eq!(early.source, self.id(), "the source is the log that owns the position");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_position_of_a_fork_reads_as_its_source_and_snapshots_go_on() {
    let source = Source::start().await;
    let places = source.places().await;
    for place in places {
        let made = source.forked_at(place).await;
        let head = source.edit_until_snapshot(&made).await;
        source.fork_deeper(&made, head).await;
    }
    // All objects have the prefix of the family.
    let (cloud, id) = (&source.cloud, source.id());
    let prefix = format!("sheets/{id}/");
    assert!(objects(cloud).await.iter().all(|key| key.starts_with(&prefix)));
    // The source is unchanged.
    let client = cloud.client("alice");
    assert_eq!(client.spreadsheet(id).head().await.unwrap().head, source.author.base);
    assert!(cloud.queue("SnapshotDeadLetters").is_empty().await.unwrap());
    let listed = client.spreadsheet(id).forks_page(None).await.unwrap().forks;
    let shared: Vec<Position> = listed.iter().map(|fork| fork.position).collect();
    assert_eq!(shared.iter().filter(|at| **at == Position::FIRST).count(), 1 + places.len());
    assert_eq!(listed.len(), 2 * places.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_made_while_others_write_share_what_was_there_and_nothing_else() {
    let clock = Arc::new(FastClock::default());
    let cloud = start(&clock).await;
    let mut author = Author::new(&cloud, "busy").await;
    let source = author.created.id;
    let writing = async {
        for number in 0..60 {
            author.edit(&cloud, operation(number)).await;
        }
    };
    let forking = async {
        let mut forks = Vec::new();
        for number in 0..12 {
            // Two concurrent requests with the same nonce create one fork.
            let nonce = number.to_string();
            let (one, two) = tokio::join!(
                fork(&cloud, source, &nonce, None),
                fork(&cloud, source, &nonce, None)
            );
            assert_eq!(one, two);
            forks.push(one);
        }
        forks
    };
    let ((), forks) = tokio::join!(writing, forking);
    for fork in &forks {
        let there = cells(&cloud, fork.id, fork.head).await;
        assert_eq!(there, replayed(&cloud, source, fork.position).await, "{}", fork.position);
    }
    let listed = cloud.client("alice").spreadsheet(source).forks_page(None).await.unwrap().forks;
    assert_eq!(listed.len(), forks.len());
}
