//! Reads cells over HTTP.

use cellar_api::wire::CellsReply;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Cell;

/// Reads all cells of the first sheet at the given position, page by page.
pub async fn cells(url: &str, token: &str, log: LogId, at: Position) -> Vec<((u32, u32), Cell)> {
    let everything = Rectangle {
        first: CellName { row: 0, column: 0 },
        last: CellName { row: 9_999, column: 999 },
    };
    let (mut cells, mut from) = (Vec::new(), String::new());
    loop {
        let at = at.pack();
        let url = format!("{url}/v1/spreadsheets/{log}/cells?range={everything}&at={at}{from}");
        let reply = reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap();
        let reply = reply.error_for_status().unwrap().bytes().await.unwrap();
        let reply: CellsReply = serde_json::from_slice(&reply).unwrap();
        cells.extend(reply.cells.into_iter().map(|c| ((c.row, c.column), c.cell)));
        match reply.next {
            Some(next) => from = format!("&cursor={next}"),
            None => return cells,
        }
    }
}
