//! Tests of presence with the tables in memory.

use async_trait::async_trait;
use cellar_base::identity::SubjectKey;
use cellar_base::limits::{PRESENCE_AGE_MS, PRESENCE_SLOTS};
use cellar_base::position::Position;
use cellar_sheet::a1::SheetArea;

use super::*;
use crate::memory::{ManualClock, MemoryTables};
use crate::system::SystemRandom;

const NOW_MS: u64 = 1_795_246_133_000;

/// Tables of which a process reads an old state.
#[derive(Default)]
struct OutdatedReads {
    tables: MemoryTables,
}

#[async_trait]
impl Presences for OutdatedReads {
    async fn presences(
        &self,
        log_id: LogId,
        consistency: ReadConsistency,
    ) -> Result<Vec<StoredPresence>, PortError> {
        match consistency {
            ReadConsistency::Eventual => Ok(Vec::new()),
            ReadConsistency::Strong => self.tables.presences(log_id, consistency).await,
        }
    }

    async fn put_presence(
        &self,
        log_id: LogId,
        stored: &StoredPresence,
        shown: ShownTimes,
    ) -> Result<PresenceOutcome, PortError> {
        self.tables.put_presence(log_id, stored, shown).await
    }

    async fn delete_presence(&self, log_id: LogId, slot: u32) -> Result<(), PortError> {
        self.tables.delete_presence(log_id, slot).await
    }
}

fn log() -> LogId {
    LogId::derive(&SubjectKey::new("cellar", "alice"), "presence").unwrap()
}

fn client(number: u32) -> ClientKey {
    ClientKey(u64::from(number).to_be_bytes())
}

fn announcement(number: u32) -> Announcement {
    let area = SheetArea::from_numbers([0, number, 1, 0, 1]).unwrap();
    let selection = Selection { area, at: Position::FIRST };
    Announcement { client: client(number), author: "alice".to_owned(), selection }
}

fn store(presences: Arc<dyn Presences>) -> (PresenceStore, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(NOW_MS));
    let store = PresenceStore::new(presences, Arc::clone(&clock) as _, Arc::new(SystemRandom));
    (store, clock)
}

fn keys(others: &[OtherClient]) -> Vec<ClientKey> {
    others.iter().map(|other| other.presence.client).collect()
}

async fn announce(store: &PresenceStore, number: u32) -> Vec<ClientKey> {
    keys(&store.announce(log(), announcement(number)).await.unwrap())
}

#[tokio::test]
async fn clients_see_each_other_until_they_leave_or_are_old() {
    let (store, clock) = store(Arc::new(MemoryTables::default()));
    assert_eq!(announce(&store, 1).await, []);
    clock.advance_ms(1);
    assert_eq!(announce(&store, 2).await, [client(1)]);
    clock.advance_ms(1);
    assert_eq!(announce(&store, 3).await, [client(2), client(1)]);
    assert_eq!(keys(&store.leave(log(), client(2)).await.unwrap()), [client(3), client(1)]);
    clock.advance_ms(PRESENCE_AGE_MS - 2);
    let others = store.others(log(), client(9)).await.unwrap();
    assert_eq!(keys(&others), [client(3), client(1)]);
    let ages: Vec<u64> = others.iter().map(|other| other.seen_ms_ago).collect();
    assert_eq!(ages, [PRESENCE_AGE_MS - 2, PRESENCE_AGE_MS]);
    clock.advance_ms(1);
    assert_eq!(keys(&store.others(log(), client(9)).await.unwrap()), [client(3)]);
}

#[tokio::test]
async fn few_clients_need_few_items() {
    let tables = Arc::new(MemoryTables::default());
    let (store, clock) = store(Arc::clone(&tables) as _);
    for number in 0..100 {
        announce(&store, number).await;
        store.leave(log(), client(number)).await.unwrap();
    }
    for number in 0..100 {
        announce(&store, number).await;
        clock.advance_ms(PRESENCE_AGE_MS + 1);
    }
    let stored = tables.presences(log(), ReadConsistency::Strong).await.unwrap();
    assert_eq!(stored.len(), 1);
}

#[tokio::test]
async fn a_client_too_many_is_not_shown() {
    let (store, _) = store(Arc::new(MemoryTables::default()));
    for number in 0..=PRESENCE_SLOTS {
        let others = announce(&store, number).await;
        assert_eq!(others.len(), usize::try_from(number).unwrap());
    }
    let last = client(PRESENCE_SLOTS);
    let shown = keys(&store.others(log(), client(0)).await.unwrap());
    assert_eq!(shown.len() + 1, usize::try_from(PRESENCE_SLOTS).unwrap());
    assert!(!shown.contains(&last));
    store.leave(log(), client(7)).await.unwrap();
    announce(&store, PRESENCE_SLOTS).await;
    let shown = keys(&store.others(log(), client(0)).await.unwrap());
    assert!(shown.contains(&last) && !shown.contains(&client(7)));
}

#[tokio::test]
async fn an_outdated_read_hides_nobody_and_leaving_still_works() {
    let tables = Arc::new(OutdatedReads::default());
    let (store, clock) = store(Arc::clone(&tables) as _);
    for number in [1, 2, 3] {
        announce(&store, number).await;
    }
    let stored = tables.presences(log(), ReadConsistency::Strong).await.unwrap();
    let shown = keys(&presence::others(&stored, client(9), clock.now_ms()));
    assert_eq!(shown, [client(1), client(2), client(3)]);
    // Client 1 takes another slot, because it does not find its own one.
    store.leave(log(), client(1)).await.unwrap();
    announce(&store, 2).await;
    announce(&store, 1).await;
    for number in [1, 2, 3] {
        store.leave(log(), client(number)).await.unwrap();
    }
    let stored = tables.presences(log(), ReadConsistency::Strong).await.unwrap();
    assert_eq!(presence::others(&stored, client(9), clock.now_ms()), []);
}
