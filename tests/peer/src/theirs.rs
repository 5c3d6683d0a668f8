//! The peer's results for all pairs, computed in one Node process.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::Pair;
use crate::cells::{Cells, SIDE, filled, holds_something};
use crate::node::{Files, install};

const PACKAGE: Files<'static> = &[
    ("package.json", include_str!("../node/package.json")),
    ("commands.mjs", include_str!("../node/commands.mjs")),
    ("peer.mjs", include_str!("../node/peer.mjs")),
];
const LOCK_FILE: &str = include_str!("../node/package-lock.json");

/// The sheet with which both users start.
#[derive(Serialize)]
struct Sheet {
    rows: u32,
    columns: u32,
    /// Row, column and text of each filled cell.
    cells: Vec<(u32, u32, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    /// Row, column, text and format of each non-empty cell.
    Cells(Vec<(u32, u32, String, String)>),
    Error(String),
}

/// Returns, for each pair, the cells that both users of the peer see at the end. The first call
/// installs the peer into `folder`.
///
/// # Panics
/// Panics if Node is missing, if the peer cannot be installed, if the peer fails at a pair, or if
/// its two users see different cells at the end.
#[must_use]
pub fn cells(folder: &Path, pairs: &[Pair]) -> Vec<Cells> {
    install(folder, PACKAGE, LOCK_FILE);
    let mut command = Command::new("node");
    command.arg("peer.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let lines = converse(&mut process, pairs);
    let status = process.wait().unwrap();
    assert!(status.success(), "the peer ended with {status}");
    assert_eq!(lines.len(), pairs.len(), "the peer answered some pairs only");
    lines.iter().zip(pairs).map(|(line, pair)| cells_in(line, pair)).collect()
}

/// Write and read concurrently, so that neither process blocks on a full pipe.
fn converse(process: &mut Child, pairs: &[Pair]) -> Vec<String> {
    let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
    thread::scope(|scope| {
        // If the peer has ended, the caller reports the peer's exit status.
        scope.spawn(move || drop(write(input, pairs)));
        BufReader::new(output).lines().map_while(Result::ok).collect()
    })
}

fn write(input: ChildStdin, pairs: &[Pair]) -> io::Result<()> {
    let mut input = BufWriter::new(input);
    let sheet = Sheet { rows: SIDE, columns: SIDE, cells: filled().collect() };
    writeln!(input, "{}", serde_json::to_string(&sheet)?)?;
    for pair in pairs {
        writeln!(input, "{}", serde_json::to_string(pair)?)?;
    }
    input.flush()
}

fn cells_in(reply: &str, pair: &Pair) -> Cells {
    let cells = match serde_json::from_str(reply).unwrap() {
        Reply::Cells(cells) => cells,
        Reply::Error(error) => {
            panic!("the peer fails at {}: {error}", serde_json::to_string(pair).unwrap())
        }
    };
    let cells =
        cells.into_iter().map(|(row, column, text, format)| ((row, column), (text, format)));
    cells.filter(|(_, cell)| holds_something(cell)).collect()
}
