//! What the peer makes of pairs: all of them in one process of Node.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::Pair;
use crate::cells::{Cells, SIDE, filled, text_at};
use crate::node::{Files, install};

const PACKAGE: Files<'static> = &[
    ("package.json", include_str!("../node/package.json")),
    ("commands.mjs", include_str!("../node/commands.mjs")),
    ("peer.mjs", include_str!("../node/peer.mjs")),
];
const LOCK_FILE: &str = include_str!("../node/package-lock.json");

/// The sheet that both users have seen.
#[derive(Serialize)]
struct Sheet {
    rows: u32,
    columns: u32,
    cells: Vec<(u32, u32, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    /// Row, column, text, format.
    Cells(Vec<(u32, u32, String, String)>),
    Error(String),
}

/// The cells that both of its users end with, for each pair. It is installed into `folder`, the
/// first time.
///
/// # Panics
/// If Node is missing, if it cannot be installed, or if it fails at a pair.
#[must_use]
pub fn cells(folder: &Path, pairs: &[Pair]) -> Vec<Cells> {
    let folder = install(folder, PACKAGE, LOCK_FILE);
    let mut command = Command::new("node");
    command.arg("peer.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let replies = converse(&mut process, pairs);
    let status = process.wait().unwrap();
    assert!(status.success(), "the peer ended with {status}");
    assert_eq!(replies.len(), pairs.len(), "the peer answered some pairs only");
    replies
}

/// Writes and reads at once: neither side waits for the other's pipe.
fn converse(process: &mut Child, pairs: &[Pair]) -> Vec<Cells> {
    let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut input = BufWriter::new(input);
            let cells = filled().map(|(row, column)| (row, column, text_at(row, column)));
            let sheet = Sheet { rows: SIDE, columns: SIDE, cells: cells.collect() };
            writeln!(input, "{}", serde_json::to_string(&sheet).unwrap()).unwrap();
            for pair in pairs {
                writeln!(input, "{}", serde_json::to_string(pair).unwrap()).unwrap();
            }
            input.flush().unwrap();
        });
        let lines = BufReader::new(output).lines();
        let replies = lines.zip(pairs).map(|(line, pair)| reply(&line.unwrap(), pair));
        replies.collect()
    })
}

fn reply(line: &str, pair: &Pair) -> Cells {
    match serde_json::from_str(line).unwrap() {
        Reply::Cells(cells) => {
            let held = cells.into_iter().filter(|(_, _, text, format)| {
                !text.is_empty() || !format.is_empty()
            });
            held.map(|(row, column, text, format)| ((row, column), (text, format))).collect()
        }
        Reply::Error(error) => panic!("the peer fails at {pair:?}: {error}"),
    }
}
