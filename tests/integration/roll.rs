//! Rolls over a real DynamoDB: their cost, races, lost replies, and reads and appends across
//! segments.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::logs::{LogError, Logs};
use cellar_engine::ports::{ReadConsistency, Segments as _};
use cellar_log::entry::Content;
use cellar_log::roll::{RollRefusal, Rolled};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::SheetId;
use cellar_tests::budgets;
use cellar_tests::edits::set_numbers;
use cellar_tests::old_logs::{Growing, OldLogs, edit};
use cellar_tests::proxy::LossyProxy;

fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

async fn create_log(world: &OldLogs, nonce: &str, edits: u32) -> Growing {
    let mut growing = world.create(nonce).await;
    for number in 0..edits {
        growing.append(set_numbers(&[f64::from(number)])).await;
    }
    growing
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roll_costs_six_write_units_and_one_read() {
    let world = OldLogs::start().await;
    let growing = create_log(&world, "cost of a roll", 3).await;
    let tail = world.entry(growing.log, growing.tail).await.unwrap();
    let _ = world.meter.take();
    assert_eq!(growing.logs.roll(Arc::clone(&tail)).await, Ok(Rolled::NoSnapshotYet));
    let cost = world.meter.take();
    assert_eq!((cost.read_units(), cost.write_units, cost.table_requests), (1.0, 0, 1));
    world.finish_snapshot(growing.log, 0).await;
    let _ = world.meter.take();
    assert_eq!(growing.logs.roll(Arc::clone(&tail)).await, Ok(Rolled::Into { segment: 1 }));
    let cost = world.meter.take();
    assert_eq!(
        ((cost.read_units(), cost.write_units), cost.table_requests),
        (budgets::ROLL.units(), 2)
    );
    // A repeated roll costs only a read.
    assert_eq!(world.logs().roll(tail).await, Ok(Rolled::Into { segment: 1 }));
    let cost = world.meter.take();
    assert_eq!((cost.read_units(), cost.write_units), (1.0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_gets_across_the_boundary() {
    let world = OldLogs::start().await;
    let mut growing = create_log(&world, "across", 4).await;
    let stale = world.logs();
    let before = stale.load(growing.log, None).await.unwrap();
    assert_eq!(before.head, at(0, 4));
    world.roll(&mut growing).await;
    let log = growing.log;
    // A process that has cached only the old segment reads the missing entries and appends to the
    // new segment.
    let appended = stale.append(edit(log, 9, 1, at(0, 4), set_numbers(&[7.0]))).await.unwrap();
    assert_eq!(appended.tail, at(1, 1));
    let missing: Vec<_> = appended.missing.iter().map(|entry| entry.position).collect();
    assert_eq!(missing, [at(0, 5), at(1, 0)]);
    for logs in [stale, world.logs()] {
        assert_eq!(logs.head(log, None).await.unwrap().head, at(1, 1));
        let loaded = logs.load(log, None).await.unwrap();
        assert_eq!(loaded.root, None, "the first entry of a log needs no root");
        assert_eq!(positions(&loaded.entries), all_of(log, &world).await);
        let updated = logs.update(log, at(0, 3)).await.unwrap();
        assert_eq!(positions(&updated.entries), [at(0, 4), at(0, 5), at(1, 0), at(1, 1)]);
        let read = logs.workbook(log, None, None).await.unwrap();
        assert_eq!(read.workbook.value(SheetId::FIRST, 0, 0), Value::Number(7.0));
        let read = logs.workbook(log, Some(at(0, 4)), None).await.unwrap();
        assert_eq!(read.workbook.value(SheetId::FIRST, 0, 0), Value::Number(3.0));
        let history = logs.history(log, None, 3).await.unwrap();
        assert_eq!(positions(&history.entries), [at(1, 1), at(1, 0), at(0, 5)]);
        let rest = logs.history(log, history.next, 99).await.unwrap();
        assert_eq!((rest.entries.len(), rest.next), (5, None));
        let diff = logs.diff(log, at(0, 4), at(1, 1)).await.unwrap();
        assert_eq!(diff.sheets.len(), 1);
    }
}

fn positions(entries: &[Arc<cellar_log::entry::Entry>]) -> Vec<Position> {
    entries.iter().map(|entry| entry.position).collect()
}

/// Returns all stored positions in ascending order.
async fn all_of(log: LogId, world: &OldLogs) -> Vec<Position> {
    let newest = world.tables.newest(log, 1, ReadConsistency::Strong).await.unwrap()[0].num;
    let mut all = Vec::new();
    for segment in 0..=newest {
        all.extend(world.stored(log, segment).await.into_iter().map(|num| at(segment, num)));
    }
    all
}

/// Checks that each segment except the last ends with exactly one End Segment, and that there is no
/// gap.
async fn assert_valid(log: LogId, world: &OldLogs, segments: u32) {
    assert_eq!(
        world.tables.newest(log, 1, ReadConsistency::Strong).await.unwrap()[0].num,
        segments - 1
    );
    for segment in 0..segments {
        let stored = world.stored(log, segment).await;
        let count = u32::try_from(stored.len()).unwrap();
        assert_eq!(stored, (0..count).collect::<Vec<_>>(), "a gap in segment {segment}");
        let mut ends = Vec::new();
        for num in stored {
            let entry = world.entry(log, at(segment, num)).await.unwrap();
            if matches!(entry.content, Content::EndSegment) {
                ends.push(num);
            }
        }
        let expected = if segment + 1 < segments { vec![count - 1] } else { vec![] };
        assert_eq!(ends, expected, "the End Segment of segment {segment}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_workers_that_roll_at_once_end_the_segment_once() {
    let world = OldLogs::start().await;
    let growing = create_log(&world, "many workers", 3).await;
    world.finish_snapshot(growing.log, 0).await;
    // Some processes have cached the tail, others an older entry.
    let mut rolls = Vec::new();
    for worker in 0..8 {
        let (logs, log) = (world.logs(), growing.log);
        let tail = world.entry(log, at(0, 3 - worker % 3)).await.unwrap();
        rolls.push(tokio::spawn(async move { logs.roll(tail).await }));
    }
    for roll in rolls {
        assert_eq!(roll.await.unwrap(), Ok(Rolled::Into { segment: 1 }));
    }
    assert_valid(growing.log, &world, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn appends_go_on_during_rolls_and_none_is_lost_or_doubled() {
    const WRITERS: u8 = 4;
    const EDITS: u64 = 40;
    let world = Arc::new(OldLogs::start().await);
    let growing = world.create("appends during rolls").await;
    let log = growing.log;
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let logs = world.logs();
        writers.push(tokio::spawn(async move {
            let mut base = Position::FIRST;
            for id in 1..=EDITS {
                let request = edit(log, 100 + writer, id, base, set_numbers(&[1.0]));
                base = append_patiently(&logs, request).await;
            }
        }));
    }
    let roller = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            let mut segments = 1;
            for _ in 0..5 {
                world.finish_snapshot(log, segments - 1).await;
                let logs = world.logs();
                let head = logs.head(log, None).await.unwrap().head;
                let tail = world.entry(log, head).await.unwrap();
                match logs.roll(tail).await {
                    Ok(rolled) => assert_eq!(rolled, Rolled::Into { segment: segments }),
                    Err(LogError::Roll(RollRefusal::Contention)) => continue,
                    Err(error) => panic!("{error}"),
                }
                segments += 1;
            }
            segments
        }
    });
    let segments = roller.await.unwrap();
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(segments > 2, "only {segments} segments");
    assert_valid(log, &world, segments).await;
    let mut ids = Vec::new();
    for position in all_of(log, &world).await {
        let entry = world.entry(log, position).await.unwrap();
        ids.extend(entry.mutation_ids().map(|(client, first, last)| (client.0[0], first, last)));
    }
    ids.sort_unstable();
    let expected: Vec<_> =
        (0..WRITERS).flat_map(|writer| (1..=EDITS).map(move |id| (100 + writer, id, id))).collect();
    assert_eq!(ids, expected, "each mutation exactly once");
}

/// Repeats an append until it wins. Returns the position of the tail.
async fn append_patiently(logs: &Logs, request: cellar_log::append::Request) -> Position {
    loop {
        match logs.append(request.clone()).await {
            Ok(appended) => return appended.tail,
            Err(LogError::Refused(cellar_log::append::Refusal::Contention)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roll_whose_reply_is_lost_is_found_and_not_repeated() {
    let world = OldLogs::start().await;
    let growing = create_log(&world, "lost reply", 3).await;
    world.finish_snapshot(growing.log, 0).await;
    let tail = world.entry(growing.log, growing.tail).await.unwrap();
    let needle = "DynamoDB_20120810.TransactWriteItems";
    let proxy = LossyProxy::start(&world.cloud.database_url, needle).await;
    let (tables, _) = world.cloud.tables_at(&proxy.url);
    let logs = cellar_tests::cloud::TestCloud::logs(&tables);
    proxy.lose(1);
    assert_eq!(logs.roll(tail).await, Ok(Rolled::Into { segment: 1 }));
    assert_eq!(proxy.lost(), 1);
    assert_valid(growing.log, &world, 2).await;
}
