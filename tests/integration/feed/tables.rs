//! DynamoDB, through the SDK and HTTP, satisfies the contract of the feed table.

use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::{
    spreadsheet::ListEntry, spreadsheet::ListLine, spreadsheet::Name, spreadsheet::Person,
    spreadsheet::Status,
};
use cellar_engine::ports::{AllStreams as _, Lists as _};

use super::World;

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_passes_the_contract_of_the_index() {
    let world = World::new().await;
    cellar_engine::contract::feed_table(world.tables().1.as_ref()).await;
    cellar_engine::contract::lists(world.tables().1.as_ref()).await;
    cellar_engine::contract::webhook(world.tables().1.as_ref()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_streams_are_found_with_and_without_event_batches() {
    let world = World::new().await;
    let alice = world.person("alice");
    let mut wanted = Vec::new();
    for number in 0_u64..3 {
        let id = world.create(&alice, &format!("Budget {number}")).await;
        for change in 0..20 * number {
            super::rename(&alice, id, &format!("Budget {number}, {change}")).await;
        }
        wanted.push((format!("Spreadsheet-{id}"), 1 + 20 * number));
    }
    let streams = world.tables().0;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = streams.all_streams(after).await.unwrap();
        found.extend(page.streams.into_iter().map(|(name, next)| (name.to_string(), next)));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_late_does_not_bring_a_spreadsheet_back() {
    let world = World::new().await;
    let (_, index) = world.tables();
    let person = Person::new("cellar", "alice").unwrap();
    let entry = |version, is_shared: bool| {
        let name = Name::new("Budget").unwrap();
        let status = Status::Active;
        let line = ListLine { name, role: Role::Owner, status, created_s: 1, source: None };
        let log = LogId::from_uuid(uuid::Uuid::from_u128(7));
        ListEntry { log, version, line: is_shared.then_some(line) }
    };
    for (put, there) in [
        (entry(1, true), entry(1, true)),
        (entry(3, false), entry(3, false)),
        (entry(2, true), entry(3, false)),
    ] {
        index.put_listed(&person, &put).await.unwrap();
        assert_eq!(index.listed(&person, None, 10).await.unwrap().entries, [there]);
    }
}
