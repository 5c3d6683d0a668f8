//! Invalid requests for the feed, and callers without permission.

use cellar::{Client, FeedQuery, SpreadsheetsQuery};
use cellar_api::{wire::LinkRequest, wire::ProblemKind};
use cellar_base::limits::{
    MAX_CHECKPOINT, MAX_FEED_EVENTS_ITEMS, MAX_FEED_PAGE_ITEMS, MAX_LIST_PAGE,
};
use cellar_catalog::access::Role;
use cellar_catalog::spreadsheet::LinkRole;

use super::{World, kind, streams, until};

fn from(after: u64) -> FeedQuery {
    FeedQuery::default().with_after(after)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_is_for_operators_and_what_events_say_for_owners() {
    let world = World::new().await;
    let id = world.create(&world.person("alice"), "Budget").await;
    let with = |token: String| Client::new(&world.cloud.url, Some(&token)).unwrap();
    let viewer = with(world.cloud.token("operator", Role::Viewer));
    until(1, async || viewer.feed_page(&FeedQuery::default()).await.unwrap().items.len()).await;
    let told = FeedQuery::default().with_payloads();
    assert_eq!(kind(viewer.feed_page(&told).await), ProblemKind::Forbidden);
    let page = world.operator().feed_page(&told).await.unwrap();
    let events = page.items[0].spans[0].events.as_ref().unwrap();
    assert_eq!((events[0].kind.as_str(), events[0].name.as_deref()), ("Created", Some("Budget")));
    assert_eq!(events[0].by.subject, "alice");
    for person in
        [world.cloud.token_of("alice"), world.cloud.token_for("alice", Role::Owner, vec![id])]
    {
        let refused = with(person).feed_page(&FeedQuery::default()).await;
        assert_eq!(kind(refused), ProblemKind::Forbidden);
    }
    let nobody = Client::new(&world.cloud.url, None).unwrap();
    assert_eq!(kind(nobody.feed_page(&FeedQuery::default()).await), ProblemKind::Unauthorized);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_neither_lists_nor_follows() {
    let world = World::new().await;
    let alice = world.person("alice");
    let id = world.create(&alice, "Budget").await;
    let request = LinkRequest {
        secret: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
        role: LinkRole::Editor,
        label: String::new(),
        expires_s: None,
    };
    let link = alice.spreadsheet(id).create_link(&request, None).await.unwrap();
    let holder = Client::new(&world.cloud.url, Some(&link.token)).unwrap();
    assert_eq!(kind(holder.feed_page(&FeedQuery::default()).await), ProblemKind::Forbidden);
    let refused = holder.spreadsheets_page(&SpreadsheetsQuery::default()).await;
    assert_eq!(kind(refused), ProblemKind::Forbidden);
}

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_that_are_none_are_told_apart() {
    let world = World::new().await;
    let operator = world.operator();
    // Before the first event, the feed has one valid position.
    assert!(operator.feed_page(&from(0)).await.unwrap().at_end);
    assert_eq!(kind(operator.feed_page(&from(1)).await), ProblemKind::InvalidRequest);
    world.create(&operator, "Budget").await;
    until(1, async || streams(&operator).await.len()).await;
    let page = operator.feed_page(&FeedQuery::default()).await.unwrap();
    let (next, feed) = (page.checkpoint, page.generation.unwrap());
    assert!(operator.feed_page(&from(next)).await.unwrap().at_end);
    for beyond in [next + 1, 1_000_000, 1_000_001, 2_000_000, MAX_CHECKPOINT] {
        let refused = operator.feed_page(&from(beyond)).await;
        let expected = match beyond {
            // The position after the end of a partition that has not ended.
            1_000_000 => None,
            _ => Some(ProblemKind::InvalidRequest),
        };
        assert_eq!(refused.err().and_then(|error| error.problem_kind()), expected, "{beyond}");
    }
    let of = |feed: &str| from(next).with_generation(feed);
    assert!(operator.feed_page(&of(&feed)).await.unwrap().at_end);
    let other = operator.feed_page(&of("0123456789abcdef")).await;
    assert_eq!(kind(other), ProblemKind::FeedGenerationChanged, "a checkpoint of another stack");
    assert_eq!(kind(operator.feed_page(&of("x")).await), ProblemKind::BadRequest);
    world.auditor().rebuild(|_| {}).await.unwrap();
    assert_eq!(kind(operator.feed_page(&of(&feed)).await), ProblemKind::FeedGenerationChanged);
    assert_eq!(kind(operator.feed_page(&from(next)).await), ProblemKind::FeedGenerationChanged);
    assert_eq!(streams(&operator).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_end_at_their_bounds() {
    let world = World::new().await;
    let operator = world.operator();
    let feed = async |limit, events| {
        let mut query = FeedQuery::default().with_limit(limit);
        query.payloads = events;
        operator.feed_page(&query).await.map(|page| page.at_end)
    };
    for (most, events) in [(MAX_FEED_PAGE_ITEMS, false), (MAX_FEED_EVENTS_ITEMS, true)] {
        assert!(feed(1, events).await.unwrap() && feed(most, events).await.unwrap());
        for limit in [0, most + 1] {
            assert_eq!(kind(feed(limit, events).await), ProblemKind::BadRequest, "{limit}");
        }
    }
    let list = async |limit, name: Option<String>| {
        let mut query = SpreadsheetsQuery::default().with_limit(limit);
        query.name = name;
        operator.spreadsheets_page(&query).await
    };
    assert_eq!(list(MAX_LIST_PAGE, None).await.unwrap().next, None);
    for limit in [0, MAX_LIST_PAGE + 1] {
        assert_eq!(kind(list(limit, None).await), ProblemKind::BadRequest, "{limit}");
    }
    let long = "x".repeat(10_000);
    assert_eq!(kind(list(1, Some(long)).await), ProblemKind::InvalidRequest);
    for query in [
        "feed?after=-1",
        "feed?after=+1",
        "feed?after=1e3",
        "feed?after=",
        "feed?x=1",
        "feed?after=9007199254740992",
        "feed?payloads=perhaps",
        "spreadsheets?cursor=x",
        "spreadsheets?mine=1",
        "spreadsheets?status=gone",
    ] {
        let url = format!("{}/v1/{query}", world.cloud.url);
        let token = world.cloud.token("operator", Role::Owner);
        let reply = reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap();
        assert_eq!(reply.status(), 400, "{query}");
    }
}
