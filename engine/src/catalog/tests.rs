//! Catalog tests over in-memory event streams, including caching and expiry.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use cellar_base::limits::{CATALOG_TIP_EVENTS, LISTING_AGE_MS, LISTING_REFUSAL_AGE_MS};
use cellar_catalog::access::{Role, Scope};
use cellar_catalog::stream::{EventBatch, Update};
use cellar_catalog::{spreadsheet::Name, spreadsheet::Person};

use super::*;
use crate::memory::{ManualClock, MemoryStreams};
use crate::ports::{ReadConsistency, StreamOutcome};

/// Event streams that count the requests of the catalog.
#[derive(Default)]
struct Counted {
    table: Arc<MemoryStreams>,
    reads: AtomicU64,
    writes: AtomicU64,
    batches: AtomicU64,
}

#[async_trait]
impl Streams for Counted {
    async fn tip(
        &self,
        name: &StreamName,
        consistency: ReadConsistency,
    ) -> Result<Option<Arc<Tip>>, PortError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.table.tip(name, consistency).await
    }

    async fn batches_before(
        &self,
        name: &StreamName,
        below: u64,
        consistency: ReadConsistency,
    ) -> Result<Vec<EventBatch>, PortError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.table.batches_before(name, below, consistency).await
    }

    async fn put_first(&self, tip: &Tip) -> StreamOutcome {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.table.put_first(tip).await
    }

    async fn update(&self, update: &Update) -> StreamOutcome {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.table.update(update).await
    }

    async fn split_off(&self, batch: &EventBatch, update: &Update) -> StreamOutcome {
        self.batches.fetch_add(1, Ordering::SeqCst);
        self.table.split_off(batch, update).await
    }
}

impl Counted {
    /// Returns how many tip reads, writes and event batch reads were sent since the last call.
    fn taken(&self) -> [u64; 3] {
        [&self.reads, &self.writes, &self.batches].map(|count| count.swap(0, Ordering::SeqCst))
    }
}

#[derive(Default)]
struct Numbers(AtomicU64);

impl Random for Numbers {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Two processes whose catalogs share one table.
struct World {
    counted: Arc<Counted>,
    clock: Arc<ManualClock>,
    here: CatalogStore,
    there: CatalogStore,
}

fn world() -> World {
    let counted = Arc::new(Counted::default());
    let clock = Arc::new(ManualClock::at(1_000_000_000));
    let random = Arc::new(Numbers::default());
    let store = || CatalogStore::new(counted.clone(), clock.clone(), random.clone());
    World { here: store(), there: store(), counted, clock }
}

pub(crate) fn log() -> LogId {
    LogId::from_uuid(uuid::Uuid::from_u128(7))
}

pub(crate) fn somebody(name: &str) -> Principal {
    let person = Person::new("cellar", name).unwrap();
    Principal {
        subject: person.key(),
        author: person.subject,
        issuer: person.issuer,
        scope: Scope::Shared,
        role: Role::Owner,
    }
}

impl World {
    async fn change(&self, name: &str, action: CatalogAction) -> Result<Changed, CatalogError> {
        self.here.change(log(), somebody(name).by(log()).unwrap(), action, None).await
    }

    async fn create(&self) -> Result<Changed, CatalogError> {
        let name = Name::new("Budget").unwrap();
        self.change("alice", CatalogAction::Create { name, source: None }).await
    }

    async fn share(&self, name: &str, role: Role) -> Result<Changed, CatalogError> {
        let with = Person::new("cellar", name).unwrap();
        self.change("alice", CatalogAction::Share { with, role }).await
    }

    async fn may_read(&self, catalog: &CatalogStore, name: &str) -> Access {
        catalog.access(&somebody(name), log(), Need::Read).await.unwrap()
    }
}

#[tokio::test]
async fn a_create_costs_one_write_and_is_idempotent() {
    let world = world();
    assert_eq!(world.create().await.unwrap().events.len(), 1);
    assert_eq!(world.counted.taken(), [0, 1, 0]);
    for (catalog, requests) in [(&world.here, [1, 0, 0]), (&world.there, [0, 1, 0])] {
        let name = Name::new("Other").unwrap();
        let action = CatalogAction::Create { name, source: None };
        let by = somebody("alice").by(log()).unwrap();
        let again = catalog.change(log(), by, action, None).await.unwrap();
        assert_eq!((again.events.len(), world.counted.taken()), (0, requests));
        assert_eq!(again.listing.unwrap().name.as_str(), "Budget");
    }
}

#[tokio::test]
async fn a_change_updates_the_cached_listing() {
    let world = world();
    world.create().await.unwrap();
    world.counted.taken();
    assert_eq!(world.may_read(&world.here, "alice").await, Access::Allowed);
    world.share("bob", Role::Editor).await.unwrap();
    assert_eq!(world.may_read(&world.here, "bob").await, Access::Allowed);
    assert_eq!(world.counted.taken(), [0, 1, 0]);
}

#[tokio::test]
async fn a_cached_listing_expires() {
    let world = world();
    world.create().await.unwrap();
    world.share("bob", Role::Viewer).await.unwrap();
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Allowed);
    let bob = Person::new("cellar", "bob").unwrap();
    world.change("alice", CatalogAction::Unshare(bob)).await.unwrap();
    assert_eq!(world.may_read(&world.here, "bob").await, Access::Hidden);
    world.counted.taken();
    world.clock.advance_ms(LISTING_AGE_MS);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Allowed);
    assert_eq!(world.counted.taken(), [0, 0, 0]);
    world.clock.advance_ms(1);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Hidden);
    assert_eq!(world.counted.taken(), [1, 0, 0]);
}

#[tokio::test]
async fn a_cached_refusal_expires() {
    let world = world();
    world.create().await.unwrap();
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Hidden);
    world.share("bob", Role::Viewer).await.unwrap();
    world.counted.taken();
    world.clock.advance_ms(LISTING_REFUSAL_AGE_MS);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Hidden);
    assert_eq!(world.counted.taken(), [0, 0, 0]);
    world.clock.advance_ms(1);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Allowed);
    assert_eq!(world.counted.taken(), [1, 0, 0]);
}

#[tokio::test]
async fn a_missing_listing_is_cached_for_operators_only() {
    let world = world();
    assert_eq!(world.may_read(&world.here, "bob").await, Access::Hidden);
    assert_eq!(world.may_read(&world.here, "carol").await, Access::Hidden);
    assert_eq!(world.counted.taken(), [2, 0, 0]);
    let operator = Principal { scope: Scope::All, role: Role::Viewer, ..somebody("operator") };
    for _ in 0..2 {
        let access = world.here.access(&operator, log(), Need::Read).await;
        assert_eq!(access, Ok(Access::Allowed));
    }
    assert_eq!(world.counted.taken(), [1, 0, 0]);
    // If no role could grant the principal access, no request is sent.
    let elsewhere = Principal { scope: Scope::Only(vec![]), ..operator };
    assert_eq!(world.here.access(&elsewhere, log(), Need::Read).await, Ok(Access::Hidden));
    assert_eq!(world.counted.taken(), [0, 0, 0]);
}

/// The number of requests that a stranger causes does not depend on whether the spreadsheet exists,
/// even while its members use the spreadsheet.
#[tokio::test]
async fn a_refusal_costs_the_same_for_a_missing_spreadsheet() {
    let world = world();
    world.create().await.unwrap();
    let absent = LogId::from_uuid(uuid::Uuid::from_u128(8));
    let reads = async |name: &str, log: LogId, need: Need, by_role: bool| {
        assert_eq!(world.may_read(&world.here, "alice").await, Access::Allowed, "in use");
        world.counted.taken();
        match by_role {
            true => drop(world.here.listing(&somebody(name), log).await.unwrap()),
            false => {
                let access = world.here.access(&somebody(name), log, need).await;
                assert_eq!(access, Ok(Access::Hidden));
            }
        }
        world.counted.taken()
    };
    for (number, (need, by_role)) in
        [(Need::Read, false), (Need::Write, false), (Need::Read, true)].into_iter().enumerate()
    {
        let name = format!("stranger {number}");
        let mut seen = vec![];
        for log in [log(), absent] {
            let first = reads(&name, log, need, by_role).await;
            let second = reads(&name, log, need, by_role).await;
            world.clock.advance_ms(LISTING_REFUSAL_AGE_MS + 1);
            let later = reads(&name, log, need, by_role).await;
            seen.push([first, second, later]);
        }
        assert_eq!(seen[0], seen[1], "{name}");
        assert_eq!(seen[0], [[1, 0, 0], [0, 0, 0], [1, 0, 0]], "{name}");
    }
}

#[tokio::test]
async fn a_change_in_this_process_ends_a_cached_refusal() {
    let world = world();
    for catalog in [&world.here, &world.there] {
        assert_eq!(world.may_read(catalog, "alice").await, Access::Hidden);
        assert_eq!(world.may_read(catalog, "bob").await, Access::Hidden);
    }
    world.create().await.unwrap();
    world.share("bob", Role::Viewer).await.unwrap();
    let writes = world.here.access(&somebody("bob"), log(), Need::Write).await;
    assert_eq!(writes, Ok(Access::Forbidden(Role::Viewer)), "not by what was said before");
    assert_eq!(world.may_read(&world.here, "alice").await, Access::Allowed);
    assert_eq!(world.may_read(&world.here, "bob").await, Access::Allowed);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Hidden);
    world.clock.advance_ms(LISTING_REFUSAL_AGE_MS + 1);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Allowed);
}

#[tokio::test]
async fn a_rejection_is_based_on_the_current_listing() {
    let world = world();
    world.create().await.unwrap();
    // The other process has not yet read the event that makes Bob an owner.
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Hidden);
    world.share("bob", Role::Owner).await.unwrap();
    let by = somebody("bob").by(log()).unwrap();
    let renamed = world
        .there
        .change(log(), by, CatalogAction::Rename(Name::new("Bob's").unwrap()), None)
        .await
        .unwrap();
    assert_eq!(renamed.listing.unwrap().name.as_str(), "Bob's");
    let by = somebody("carol").by(log()).unwrap();
    let refused = world.there.change(log(), by, CatalogAction::Archive, None).await;
    assert_eq!(refused, Err(CatalogError::Rejected(Rejection::Hidden)));
}

#[tokio::test]
async fn an_operator_adds_an_older_spreadsheet_to_the_catalog() {
    let world = world();
    let operator = Principal { scope: Scope::All, ..somebody("operator") };
    let by = || operator.by(log()).unwrap();
    let with = Person::new("cellar", "bob").unwrap();
    let share = CatalogAction::Share { with, role: Role::Viewer };
    let changed = world.here.change(log(), by(), share.clone(), None).await.unwrap();
    assert_eq!(changed.events.len(), 2);
    assert_eq!(changed.listing.unwrap().owner_count(), 1);
    assert_eq!(world.may_read(&world.there, "bob").await, Access::Allowed);
    assert_eq!(world.here.change(log(), by(), share, None).await.unwrap().events, []);
    let member = somebody("bob").by(log()).unwrap();
    let other = LogId::from_uuid(uuid::Uuid::from_u128(8));
    let refused = world.here.change(other, member, CatalogAction::Archive, None).await;
    assert_eq!(refused, Err(CatalogError::Rejected(Rejection::Hidden)));
}

#[tokio::test]
async fn events_of_a_listing_are_split_off_by_their_number() {
    let world = world();
    world.create().await.unwrap();
    for number in 1..CATALOG_TIP_EVENTS {
        let action = CatalogAction::Rename(Name::new(&format!("Budget {number}")).unwrap());
        world.change("alice", action).await.unwrap();
    }
    let [_, writes, batches] = world.counted.taken();
    assert_eq!((writes, batches), (CATALOG_TIP_EVENTS as u64, 0));
    world.change("alice", CatalogAction::Archive).await.unwrap();
    assert_eq!(world.counted.taken(), [0, 0, 1]);
    // The latest stream item still contains all events of the listing.
    assert_eq!(world.may_read(&world.there, "alice").await, Access::Allowed);
    assert_eq!(world.counted.taken(), [1, 0, 0]);
}

/// A process freezes before it shares the spreadsheet. Meanwhile, a retry shares it and the share
/// is revoked. Then the process resumes.
#[tokio::test]
async fn a_delayed_change_does_not_revert_later_changes() {
    let world = world();
    world.create().await.unwrap();
    let bob = || Person::new("cellar", "bob").unwrap();
    let share = || CatalogAction::Share { with: bob(), role: Role::Editor };
    let by = || somebody("alice").by(log()).unwrap();
    assert!(world.here.change(log(), by(), share(), Some(1)).await.is_ok());
    let again = world.there.change(log(), by(), share(), Some(1)).await;
    assert_eq!(again.unwrap().events, [], "it is done");
    assert!(world.here.change(log(), by(), CatalogAction::Unshare(bob()), Some(2)).await.is_ok());
    let late = world.there.change(log(), by(), share(), Some(1)).await;
    assert_eq!(late, Err(CatalogError::Rejected(Rejection::Changed)));
    assert_eq!(world.may_read(&world.here, "bob").await, Access::Hidden);
}

#[tokio::test]
async fn changes_are_read_newest_first() {
    let world = world();
    assert_eq!(world.here.changes(log(), None).await.unwrap().events, []);
    world.create().await.unwrap();
    let count = 2 * CATALOG_TIP_EVENTS + 3;
    for number in 1..count {
        let action = CatalogAction::Rename(Name::new(&format!("Budget {number}")).unwrap());
        world.change("alice", action).await.unwrap();
    }
    world.counted.taken();
    let (mut indexes, mut below, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = world.there.changes(log(), below).await.unwrap();
        indexes.extend(page.events.iter().map(|dated| dated.index));
        pages += 1;
        below = page.below;
        if below.is_none() {
            break;
        }
    }
    let expected: Vec<u64> = (0..count as u64).rev().collect();
    assert_eq!((indexes, pages), (expected, 3));
    assert_eq!(world.counted.taken(), [5, 0, 0], "the tip each time, and two event batches");
    // A read may start at any index, including an index past the end.
    for (below, newest) in [(5, Some(4)), (1, Some(0)), (0, None), (99, Some(count as u64 - 1))] {
        let page = world.there.changes(log(), Some(below)).await.unwrap();
        assert_eq!(page.events.first().map(|dated| dated.index), newest, "{below}");
        assert!(page.events.iter().all(|dated| dated.index < below));
    }
    let last = world.there.changes(log(), Some(1)).await.unwrap();
    assert!(matches!(last.events[0].event, CatalogEvent::Created { .. }));
    assert_eq!((last.events[0].time_ms, last.below), (1_000_000_000, None));
}
