//! Measures the numbers of the README about the feed: `cargo test -p cellar-tests --test
//! integration feed::figures -- --ignored --nocapture`, on an idle machine.

use std::time::{Duration, Instant};

use cellar::FeedQuery;
use cellar_api::cost::{Cost, HEADER};
use cellar_catalog::access::Role;
use serde_json::json;

use super::{World, share, streams, until};

/// Number of changes of one spreadsheet's listing, enough for the tip to split off some.
const CHANGES: usize = 60;
/// Number of spreadsheets that are indexed again, and of changes of each.
const SPREADSHEETS: usize = 100;
const CHANGES_OF_EACH: usize = 10;
/// Number of changes whose latency is measured.
const TIMED: usize = 50;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures"]
async fn what_an_append_to_a_short_stream_costs() {
    let world = World::new().await;
    let alice = world.person("alice");
    let id = world.create(&alice, "Budget").await;
    for member in ["bob", "carol"] {
        share(&alice, id, member, Role::Editor).await;
    }
    let http = reqwest::Client::new();
    let url = format!("{}/v1/spreadsheets/{id}/details", world.cloud.url);
    let token = world.cloud.token_of("alice");
    let mut units = Vec::new();
    for number in 0..CHANGES {
        let name = json!({ "name": format!("Budget of the year {number}") });
        let reply = http.patch(&url).bearer_auth(&token).json(&name).send().await.unwrap();
        let cost = Cost::from_header(reply.headers()[HEADER].to_str().unwrap()).unwrap();
        units.push(cost.write_units);
    }
    let sum: u64 = units.iter().sum();
    println!("{CHANGES} changes of a listing of three: {sum} W, {units:?}");
    // For comparison: one item per event and one for the state, so that a read of the state is one
    // request.
    println!("the same with an item for each event and one for the state: {} W", 2 * CHANGES);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures"]
async fn how_fast_the_feed_is_made_and_how_late_it_is() {
    let world = World::new().await;
    let (alice, operator) = (world.person("alice"), world.operator());
    let mut last = None;
    for number in 0..SPREADSHEETS {
        let id = world.create(&alice, &format!("Budget {number}")).await;
        for change in 1..CHANGES_OF_EACH {
            super::rename(&alice, id, &format!("Budget {number}, {change}")).await;
        }
        last = Some(id);
    }
    let all = SPREADSHEETS * CHANGES_OF_EACH;
    let indexed = async || streams(&operator).await.values().map(Vec::len).sum::<usize>();
    until(all, indexed).await;
    let begun = Instant::now();
    let rebuilt = world.auditor().rebuild(|_| {}).await.unwrap();
    let took = begun.elapsed();
    let (events, items) = (rebuilt.events, rebuilt.items);
    println!(
        "{events} events of {SPREADSHEETS} streams in {items} items, lists included: {took:?}"
    );
    let mut query = FeedQuery::default();
    let mut page = operator.feed_page(&query).await.unwrap();
    let mut late = Vec::new();
    while late.len() < TIMED {
        // Skip to the end of the feed.
        while !page.at_end {
            query.after = Some(page.checkpoint);
            page = operator.feed_page(&query).await.unwrap();
        }
        super::rename(&alice, last.unwrap(), &format!("Plan {}", late.len())).await;
        let begun = Instant::now();
        while page.items.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
            page = operator.feed_page(&query).await.unwrap();
        }
        late.push(begun.elapsed());
    }
    late.sort();
    println!("in the feed after the answer, median of {TIMED}: {:?}", late[TIMED / 2]);
}
