//! Writes cases for the web client, whose predictions must equal what the server commits.
//!
//! `web/tests/data/pending.test.ts` describes the format and reads the cases.

use std::fs::File;
use std::io::{BufWriter, Write};

use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use super::*;
use cellar_base::hexadecimal::hexadecimal;
use cellar_sheet::metadata::StateSummary;
use cellar_sheet::operation::Spans;

const DEFAULT_COUNT: usize = 10_000;

/// Returns the pending edits of a client, and what the server commits if they arrive now.
fn case_of(world: &World, who: usize, pending: &[PendingMutation]) -> Json {
    let mut sent = copy(world);
    sent.append(request(who, pending), &[]).unwrap();
    let expected = committed(&sent, who, pending[0].id).into_iter().map(|outlook| match outlook {
        Outlook::Committed(operations) => json!(operations),
        Outlook::Rejected(rejection) => json!({ "rejected": rejection.reason }),
        Outlook::Unknown => panic!("the server has committed it"),
    });
    let entries = views(world);
    let sheets = StateSummary::of(&state(&entries)).sheets;
    let numbers =
        |runs: &Spans| -> Vec<u32> { runs.iter().flat_map(|run| run.first..run.end()).collect() };
    let (live, used) = (numbers(sheets.live()), numbers(sheets.used().runs()));
    let pending = pending.iter().map(|PendingMutation { id, base, operation, .. }| {
        json!({ "id": id, "base": base, "op": operation })
    });
    json!({
        "entries": entries.iter().filter(|entry| !entry.mutations.is_empty()).collect::<Vec<_>>(),
        "own": [hexadecimal(&client(who as u8).0)],
        "sheets": { "live": live, "used": used },
        "pending": pending.collect::<Vec<_>>(),
        "expected": expected.collect::<Vec<_>>(),
    })
}

/// Returns the cases of a random history: one for each client with pending edits.
fn cases_of(steps: Vec<ClientStep>) -> Vec<Json> {
    let mut world = World::new(1);
    let mut writers: [Writer; 3] = Default::default();
    for step in steps {
        take(step, &mut world, &mut writers);
    }
    let with_pending =
        writers.iter().enumerate().filter(|(_, writer)| !writer.pending().is_empty());
    with_pending.map(|(who, writer)| case_of(&world, who, writer.pending())).collect()
}

#[test]
#[ignore = "writes the file $CELLAR_REBASE_CASES for the tests of the web client"]
fn write_cases() {
    let path = std::env::var_os("CELLAR_REBASE_CASES").expect("CELLAR_REBASE_CASES is a path");
    let count = std::env::var("CELLAR_REBASE_COUNT").ok();
    let count = count.map_or(DEFAULT_COUNT, |count| count.parse().expect("a number of cases"));
    let mut file = BufWriter::new(File::create(path).unwrap());
    // Always the same cases, so that a failure can be repeated.
    let mut runner = TestRunner::deterministic();
    let histories = vec(any_step(), 4..28);
    let mut written = 0;
    while written < count {
        let steps = histories.new_tree(&mut runner).unwrap().current();
        for case in cases_of(steps).into_iter().take(count - written) {
            writeln!(file, "{case}").unwrap();
            written += 1;
        }
    }
    file.flush().unwrap();
}
