//! A fork remains readable after its source's segments are offloaded and trimmed.

use cellar_base::identity::SubjectKey;
use cellar_engine::logs::{Logs, NewFork};
use cellar_log::{retention::KeepReason, retention::Plan};
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_tests::old_logs::{AS_LITTLE_AS_ALLOWED, DAY_MS, Growing, OldLogs, edit};

use super::*;

fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

fn text(row: u32, text: &str) -> Operation {
    let value = Some(cellar_sheet::cell::Value::Text(text.to_owned()));
    let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Creates a log of three segments of three edits each, all with snapshots, and a fourth,
/// unfinished segment.
async fn create_source(world: &OldLogs) -> Growing {
    let mut growing = world.create("source").await;
    for segment in 0..4 {
        for row in 0..3 {
            growing.append(text(segment * 10 + row, &format!("{segment}/{row}"))).await;
        }
        if segment < 3 {
            world.roll(&mut growing).await;
        }
    }
    growing
}

async fn forked(logs: &Logs, source: LogId, at: Position) -> LogId {
    let log =
        LogId::derive_fork(&SubjectKey::new("test", "test"), source, &at.to_string()).unwrap();
    logs.fork(NewFork { log, source, at: Some(at), author: None }).await.unwrap();
    log
}

/// Returns all contents of a log, read in every way.
async fn reading(logs: &Logs, log: LogId) -> (Vec<String>, String, Vec<Position>) {
    let history = logs.history(log, None, 1_000).await.unwrap();
    assert_eq!(history.next, None);
    // The first entry of a trimmed segment differs only in its mark.
    let entry = |entry: &cellar_log::entry::Entry| match entry.position.entry_number() {
        0 => entry.position.to_string(),
        _ => format!("{entry:?}"),
    };
    let mut states = String::new();
    for entry in &history.entries {
        let read = logs.workbook(log, Some(entry.position), None).await.unwrap();
        states = format!("{states}{:?}", read.workbook);
    }
    let loaded = logs.load(log, None).await.unwrap().entries;
    let loaded = loaded.iter().map(|entry| entry.position).collect();
    (history.entries.iter().map(|shown| entry(shown)).collect(), states, loaded)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_reads_on_when_its_source_is_trimmed_and_is_offloaded_by_itself() {
    let world = OldLogs::start().await;
    let source = create_source(&world).await;
    let logs = world.logs();
    let mut forks = Vec::new();
    for position in [at(0, 0), at(0, 2), at(0, 4), at(1, 0), at(1, 2), at(2, 3), at(3, 2)] {
        let fork = forked(&logs, source.log, position).await;
        forks.push((fork, position, reading(&world.logs(), fork).await));
    }
    let of_fork = forked(&logs, forks[4].0, at(2, 0)).await;
    forks.push((of_fork, at(1, 2), reading(&world.logs(), of_fork).await));

    world.clock.advance_ms(40 * DAY_MS);
    let mut deleted = 0;
    for planned in world.plans(source.log, AS_LITTLE_AS_ALLOWED).await {
        deleted += world.offloader().execute(&planned).await.unwrap().deleted;
    }
    assert!(deleted > 0);
    assert_eq!(
        world.stored(source.log, 0).await,
        [0, 4],
        "only the first and the last entry of the segment remain"
    );

    for (fork, position, before) in &forks {
        let plans = world.plans(*fork, AS_LITTLE_AS_ALLOWED).await;
        assert_eq!(
            plans[0].plan,
            Plan::Keep(KeepReason::Inherited),
            "inherited segments are not offloaded"
        );
        for planned in &plans {
            assert_eq!(world.offloader().execute(planned).await.unwrap().deleted, 0);
        }
        assert_eq!(&reading(&world.logs(), *fork).await, before, "{position}");
        // Writers whose base is below the fork, in the offloaded segment, and at the fork's head.
        let logs = world.logs();
        for (client, base) in [(9, *position), (10, logs.head(*fork, None).await.unwrap().head)] {
            let edit = edit(*fork, client, 1, base, text(50, "own"));
            let tail = logs.append(edit).await.unwrap().tail;
            assert!(tail.segment() > position.segment(), "{position}: {tail}");
        }
        let own = logs.head(*fork, None).await.unwrap().head.segment();
        world.finish_snapshot(*fork, own).await;
        let after = world.logs().load(*fork, None).await.unwrap();
        assert_eq!(
            after.entries[0].position,
            at(own, 0),
            "the load starts at the fork's own snapshot"
        );
        assert!(
            after.root.unwrap().contains(&source.log.to_string()),
            "the root is not in the family's folder"
        );
        for segment in 0..own {
            assert!(
                world.stored(*fork, segment).await.is_empty(),
                "the fork has copies of inherited entries"
            );
        }
    }
}
