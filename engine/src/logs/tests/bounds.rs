//! Bounds of the log service, at the limit and one above.

use cellar_base::consistency::ReadConsistency;
use cellar_base::limits::{CACHED_ENTRY_AGE_S, MAX_PAGE_ENTRIES, MAX_UPLOAD_BYTES};
use uuid::Uuid;

use super::*;
use crate::logs::UploadFault;

#[tokio::test]
async fn rejects_an_upload_that_is_too_long() {
    let service = logs(&Arc::new(MemoryTables::default()));
    service.create(log(), None).await.unwrap();
    let most = u64::try_from(MAX_UPLOAD_BYTES).unwrap();
    let granted = service.grant_upload(log(), Uuid::nil(), most, [0; 32]).await;
    assert!(granted.is_ok(), "{granted:?}");
    let refused = service.grant_upload(log(), Uuid::nil(), most + 1, [0; 32]).await;
    let too_long = UploadFault::TooLong { bytes: most + 1 };
    assert_eq!(refused.map(|granted| granted.url), Err(LogError::Upload(too_long)));
}

#[tokio::test]
async fn bounds_the_entries_of_a_page() {
    let tables = MemoryTables::default();
    let put = async |num: u32| {
        let entry = Entry { position: at(0, num), ..Entry::first(log(), None, 0) };
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    };
    for num in 0..MAX_PAGE_ENTRIES {
        put(num).await;
    }
    let most = usize::try_from(MAX_PAGE_ENTRIES).unwrap();
    let page = tables.page(log(), at(0, 0), ReadConsistency::Strong).await.unwrap();
    assert_eq!((page.entries.len(), page.more), (most, false));
    put(MAX_PAGE_ENTRIES).await;
    let page = tables.page(log(), at(0, 0), ReadConsistency::Strong).await.unwrap();
    assert_eq!((page.entries.len(), page.more), (most, true));
}

/// A process may append to a cached tail without a read until the tail reaches its maximum age.
#[tokio::test]
async fn uses_a_cached_tail_until_its_maximum_age() {
    for (age_s, is_read) in [(CACHED_ENTRY_AGE_S - 1, false), (CACHED_ENTRY_AGE_S, true)] {
        let tables = Arc::new(disturbed_tables::DisturbedTables::default());
        let clock = Arc::new(ManualClock::at(StoppedClock.now_ms()));
        let process = || {
            let (entries, segments) = (Arc::clone(&tables), Arc::clone(&tables));
            let blobs = Arc::new(MemoryBlobs::new(clock.clone()));
            Logs::new(entries, segments, blobs, clock.clone(), Arc::new(Counter::default()))
        };
        process().create(log(), None).await.unwrap();
        clock.advance_ms(age_s * 1_000);
        let fresh = process();
        fresh.load(log(), None).await.unwrap();
        let reads = tables.reads();
        fresh.append(request(1, 0, 1, Position::FIRST, "x")).await.unwrap();
        assert_eq!(tables.reads() > reads, is_read, "{age_s} s");
    }
}
