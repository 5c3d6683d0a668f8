//! Lists of an API whose pages do not continue where the preceding page ended.

use std::convert::Infallible;

use cellar::ClientError;
use cellar::feed::{Delivery, FeedProgress, SubscribeError, Subscriber, Subscription, subscribe};
use cellar_api::wire::{CellsReply, EntriesReply, EntryView, FeedItemView, FeedReply};
use cellar_base::position::Position;
use cellar_sheet::cell::Cell;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::{DeleteSheet, Operation, SheetId};
use cellar_sheet::workbook::CellAt;

use super::block_on;
use super::command::Case;
use super::fake::{Fake, Fault};

fn cells(rows: &[u32], next: &str) -> Fault {
    let cell = |row: &u32| CellAt::new(*row, 0, Cell::default());
    let page = CellsReply {
        sheet: SheetId::FIRST,
        name: "Sheet1".into(),
        position: Position::FIRST,
        incarnation: 1,
        extent: Extent { rows: 9, columns: 1 },
        formats: Vec::new(),
        formats_truncated: false,
        cells: rows.iter().map(cell).collect(),
        next: Some(next.to_owned()),
    };
    Fault::Answer(200, serde_json::to_string(&page).unwrap())
}

#[test]
fn get_prints_no_cells_if_a_page_is_missing() {
    let case = Case::new();
    case.text(&["create"]);
    for pages in [
        vec![cells(&[0], "A2"), cells(&[1], "A3"), cells(&[1], "A3")],
        vec![cells(&[0], "A2"), cells(&[1], "A1")],
        vec![cells(&[0, 2], "A3")],
        vec![cells(&[], "A2")],
    ] {
        case.fake.fail(pages);
        let output = case.run(&["get", "--remote", "--json"]);
        assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
        let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["code"], "cellar::broken_list", "{error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains("does not continue the list at"), "{message}");
        assert!(case.fake.lock().faults.is_empty(), "every page was requested");
    }
}

/// Counts the items that it receives.
struct Received(usize);

impl Subscriber for Received {
    type Error = Infallible;

    async fn handle(&mut self, _: Delivery<'_>) -> Result<(), Infallible> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn a_subscription_ends_at_a_page_that_does_not_advance() {
    let fake = Fake::start();
    let item = FeedItemView { checkpoint: 7, indexed_ms: 0, spans: Vec::new() };
    let generation = Some("00000000000000aa".to_owned());
    let page = FeedReply { generation, items: vec![item], checkpoint: 7, at_end: false };
    let answer = Fault::Answer(200, serde_json::to_string(&page).unwrap());
    fake.fail([answer.clone(), answer]);
    let (client, mut progress, mut received) =
        (fake.client(), FeedProgress::default(), Received(0));
    let ended = block_on(subscribe(&client, Subscription::default(), &mut progress, &mut received));
    let Err(SubscribeError::Client(ClientError::BrokenList { start, .. })) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!((start.as_str(), received.0), ("7", 1), "no item is delivered twice");
}

#[test]
fn followed_entries_that_do_not_advance_are_an_error() {
    let fake = Fake::start();
    let id = fake.spreadsheet();
    let first = EntryView::from(&fake.lock().logs[&id][0]);
    let delete = Operation::DeleteSheet(DeleteSheet { sheet: SheetId(9) });
    fake.lock().author(id, delete);
    let head = fake.lock().logs[&id].last().unwrap().position;
    let page = EntriesReply { head, incarnation: 1, entries: vec![first], next: None };
    fake.lock().entries_reply = Some(serde_json::to_value(&page).unwrap());
    let spreadsheet = fake.client().spreadsheet(id);
    let ended = block_on(spreadsheet.follow(Some(Position::FIRST)).try_next());
    assert!(matches!(ended, Err(ClientError::BrokenList { .. })), "{ended:?}");
}
