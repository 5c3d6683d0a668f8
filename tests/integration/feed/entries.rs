//! `feed: everything`: log entries in the feed, over the real tables and their change streams.

use cellar::{Client, FeedQuery};
use cellar_api::wire::EventRange;
use cellar_base::position::Position;
use cellar_catalog::feed::{LOG_CATEGORY, segment_of_stream};
use cellar_engine::ports::Segments as _;
use cellar_local::Ports;
use cellar_stacks::FeedScope;
use cellar_tests::edits::set_numbers;
use cellar_tests::old_logs::edit;

use super::*;

async fn world() -> World {
    let ports = Ports { snapshot_builder: None, ..Ports::default() };
    let cloud = TestCloud::start_configured(ports, |config| {
        config.snapshots.enabled = false;
        config.feed = FeedScope::Everything;
    });
    World { cloud: cloud.await }
}

/// Returns the entries of a log in feed order: segment, number and kind.
async fn entries(operator: &Client, id: LogId) -> Vec<(u32, u64, String)> {
    let (mut entries, mut query) = (Vec::new(), FeedQuery::default());
    loop {
        let page = operator.feed_page(&query).await.unwrap();
        let spans = page.items.iter().flat_map(|item| &item.spans);
        for EventRange { stream, first, kinds, events } in spans {
            let of = segment_of_stream(&stream.parse().unwrap());
            let Some((_, segment)) = of.filter(|(log, _)| *log == id) else { continue };
            assert_eq!(events, &None, "an entry's contents are in the feed");
            entries.extend((*first..).zip(kinds).map(|(num, kind)| (segment, num, kind.clone())));
        }
        query.after = Some(page.checkpoint);
        if page.at_end {
            return entries;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_entry_of_a_log_is_in_the_feed_once_and_in_order() {
    let world = world().await;
    let operator = world.operator();
    let id = world.create(&world.person("alice"), "Budget").await;
    let (tables, _) = world.cloud.tables_at(&world.cloud.database_url);
    let logs = TestCloud::logs(&tables);
    let (mut expected, mut tail) = (Vec::new(), Position::FIRST);
    for segment in 0..3_u32 {
        expected.push((segment, 0, "Snapshot".to_owned()));
        for num in 1..=4_u64 {
            let number = u64::from(segment) * 4 + num;
            let request = edit(id, 1, number, tail, set_numbers(&[1.0]));
            tail = logs.append(request).await.unwrap().tail;
            expected.push((segment, num, "Edits".to_owned()));
        }
        if segment < 2 {
            tables.raise_last_snapshot(id, tail.segment_start()).await.unwrap();
            let last = cellar_engine::ports::Entries::get(tables.as_ref(), id, tail).await.unwrap();
            logs.roll(last.unwrap()).await.unwrap();
            expected.push((segment, 5, "EndSegment".to_owned()));
            tail = Position::new(segment + 1, 0).unwrap();
        }
    }
    until(expected.len(), async || entries(&operator, id).await.len()).await;
    assert_eq!(entries(&operator, id).await, expected);
    // The events of the catalog are the same as before. They come through another table, so maybe later.
    let stream = format!("Spreadsheet-{id}");
    let created = Some(vec!["Created".to_owned()]);
    until(created, async || streams(&operator).await.remove(&stream)).await;
    let streams = streams(&operator).await;
    let of_logs = streams.keys().filter(|stream| stream.starts_with(LOG_CATEGORY)).count();
    assert_eq!(of_logs, 3, "one stream per segment");
}
