//! Programs that follow the feed.

use cellar::feed::{
    Delivery, FeedProgress, FileCheckpoints, SubscribeError, Subscriber, Subscription, subscribe,
};
use cellar_api::wire::ChangeView;
use cellar_catalog::access::Role;
use tokio::sync::mpsc;

use super::{World, share, streams, until};

/// Counts events up to a maximum.
#[derive(Default)]
struct Counter {
    events: usize,
    first: Option<u64>,
    /// Maximum number of events that are accepted.
    most: usize,
    refused: Option<u64>,
}

impl Counter {
    fn up_to(most: usize) -> Self {
        Self { most, ..Self::default() }
    }
}

impl Subscriber for Counter {
    type Error = &'static str;

    async fn handle(&mut self, delivery: Delivery<'_>) -> Result<(), &'static str> {
        let item = delivery.item;
        let events: usize = item.spans.iter().map(|span| span.kinds.len()).sum();
        if self.events + events > self.most {
            self.refused = Some(item.checkpoint);
            return Err("full");
        }
        self.first.get_or_insert(item.checkpoint);
        self.events += events;
        Ok(())
    }
}

/// Sends received changes and their latency to a channel.
struct ChangeSender(mpsc::Sender<(ChangeView, u64)>);

impl Subscriber for ChangeSender {
    type Error = ();

    async fn handle(&mut self, delivery: Delivery<'_>) -> Result<(), ()> {
        for event in delivery.item.spans.iter().flat_map(|span| span.events.iter().flatten()) {
            self.0.send((event.clone(), delivery.lag_ms)).await.map_err(|_| ())?;
        }
        Ok(())
    }
}

fn to_the_end() -> Subscription {
    Subscription::default().with_limit(2).until_end()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_goes_on_where_it_was_and_is_told_again_what_it_did_not_handle() {
    let world = World::new().await;
    let (alice, operator) = (world.person("alice"), world.operator());
    for number in 0..5 {
        let id = world.create(&alice, &format!("Budget {number}")).await;
        share(&alice, id, "bob", Role::Viewer).await;
    }
    let whole = || async {
        let streams = streams(&operator).await;
        streams.values().map(Vec::len).sum::<usize>()
    };
    until(10, async || whole().await).await;
    let folder = tempfile::tempdir().unwrap();
    let mut checkpoints = FileCheckpoints::at(folder.path().join("feed.json"));
    let mut some = Counter::up_to(4);
    let failed = subscribe(&operator, to_the_end(), &mut checkpoints, &mut some).await;
    assert!(matches!(failed, Err(SubscribeError::Handler("full"))));
    let mut rest = Counter::up_to(10);
    let progress = subscribe(&operator, to_the_end(), &mut checkpoints, &mut rest).await.unwrap();
    assert_eq!(rest.first, some.refused, "the refused event was not repeated");
    assert_eq!(some.events + rest.events, 10);
    // A third run gets no events, and a checkpoint of another feed is recognized.
    let mut none = Counter::up_to(0);
    let nothing = subscribe(&operator, to_the_end(), &mut checkpoints, &mut none).await;
    assert_eq!(nothing.unwrap(), progress);
    world.auditor().rebuild(|_| {}).await.unwrap();
    let other = subscribe(&operator, to_the_end(), &mut checkpoints, &mut none).await;
    assert!(matches!(other, Err(SubscribeError::GenerationChanged)));
    let (mut anew, mut all) = (FeedProgress::default(), Counter::up_to(10));
    subscribe(&operator, to_the_end(), &mut anew, &mut all).await.unwrap();
    assert_eq!(all.events, 10, "the rebuilt feed has the same events");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_goes_on_is_told_of_what_comes() {
    let world = World::new().await;
    let (alice, operator) = (world.person("alice"), world.operator());
    let (sender, mut receiver) = mpsc::channel(1);
    let follows = tokio::spawn(async move {
        let endless = Subscription::default().with_payloads();
        let mut progress = FeedProgress::default();
        subscribe(&operator, endless, &mut progress, &mut ChangeSender(sender)).await
    });
    let id = world.create(&alice, "Budget").await;
    let mut next = async || tokio::time::timeout(super::PATIENCE, receiver.recv()).await.unwrap();
    assert_eq!(next().await.unwrap().0.kind, "Created");
    share(&alice, id, "bob", Role::Viewer).await;
    let (shared, lag_ms) = next().await.unwrap();
    assert_eq!((shared.kind.as_str(), shared.by.subject.as_str()), ("Shared", "alice"));
    assert!(lag_ms < 60_000, "{lag_ms}");
    follows.abort();
}
