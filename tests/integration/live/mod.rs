//! A live sheet over HTTP from the local cloud: its view offline, its stored state, and the outcome
//! of its edits under lost requests and replies.

mod bounds;
mod figures;
mod formulas;
mod given_up;
mod restored;

use std::path::Path;

use cellar::live::{EditOutcome, LiveError, LiveSheet, SyncReport};
use cellar::{CellsQuery, Client};
use cellar_api::rebase::Outlook;
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_local::Ports;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSpans, InsertBefore, Operation, RejectionReason, SetCells, SheetId,
    Spans, Undo,
};
use cellar_tests::budgets;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::at;
use cellar_tests::faulty_proxy::{Faults, FaultyProxy};
use cellar_tests::snapshots::wait_for_root;

/// A cloud, a proxy in front of it, and one spreadsheet.
pub(crate) struct World {
    pub(crate) cloud: TestCloud,
    pub(crate) proxy: FaultyProxy,
    pub(crate) created: CreateReply,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::over(TestCloud::start().await).await
    }

    async fn over(cloud: TestCloud) -> Self {
        let proxy = FaultyProxy::start(&cloud.url, 7).await;
        let request = CreateRequest::new("live".to_owned());
        let created = cloud.client("alice").create(&request).await.unwrap();
        Self { cloud, proxy, created }
    }

    /// Opens a live sheet of a person through the proxy.
    async fn open(&self, subject: &str, folder: &Path) -> Result<LiveSheet, LiveError> {
        let token = self.cloud.token(subject, Role::Editor);
        self.open_with(&token, folder).await
    }

    async fn open_with(&self, token: &str, folder: &Path) -> Result<LiveSheet, LiveError> {
        let client = Client::new(&self.proxy.url, Some(token)).unwrap();
        LiveSheet::open(client.spreadsheet(self.created.id), folder).await
    }

    /// Returns the server's cells of the first sheet.
    async fn cells(&self) -> Vec<String> {
        let reply = self
            .cloud
            .client("alice")
            .spreadsheet(self.created.id)
            .cells_page(&CellsQuery::default())
            .await;
        texts(&reply.unwrap().cells)
    }
}

fn texts(cells: &[cellar_api::wire::CellAt]) -> Vec<String> {
    cells.iter().map(|cell| format!("{},{} {}", cell.row, cell.column, cell.cell.text())).collect()
}

/// Returns a live sheet's cells of the first sheet.
async fn shown(live: &mut LiveSheet) -> Vec<String> {
    texts(&live.view(None, Rectangle::EVERYTHING).await.unwrap().cells)
}

fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

fn insert(before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count: 1 })
}

fn delete(row: u32) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(row, 1) })
}

fn ids(synced: &SyncReport) -> Vec<u64> {
    synced.settled.iter().map(|settled| settled.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_made_offline_are_shown_at_once_survive_a_restart_and_are_sent_together() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    live.edit(set(0, "online")).unwrap();
    live.sync().await.unwrap();
    world.proxy.set_offline(true);
    for operation in [set(1, "a"), insert(0), set(0, "b")] {
        live.edit(operation).unwrap();
    }
    let expected = ["0,0 b", "1,0 online", "2,0 a"];
    assert_eq!(shown(&mut live).await, expected);
    assert!(live.sync().await.unwrap_err().is_offline());
    drop(live);

    // Open the stored state again while the API does not reply.
    let mut live = world.open("bob", folder.path()).await.unwrap();
    assert_eq!(
        (shown(&mut live).await, live.position()),
        (expected.map(str::to_owned).into(), at(1))
    );
    assert_eq!(live.pending().count(), 3);
    live.edit(set(3, "c")).unwrap();
    assert_eq!(world.cells().await, ["0,0 online"], "nothing was sent");

    world.proxy.set_offline(false);
    let synced = live.sync().await.unwrap();
    assert_eq!((ids(&synced), synced.position), (vec![2, 3, 4, 5], at(2)), "one entry");
    assert!(synced.settled.iter().all(|settled| settled.outcome == EditOutcome::Unchanged));
    assert_eq!(world.cells().await, ["0,0 b", "1,0 online", "2,0 a", "3,0 c"]);
    assert_eq!(shown(&mut live).await, world.cells().await);
    assert!(!live.sync().await.unwrap().has_changes());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_moves_with_what_others_did_and_is_what_is_committed() {
    let world = World::start().await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    let mut eve = world.open("eve", folders[1].path()).await.unwrap();
    bob.edit(set(0, "zero")).unwrap();
    bob.edit(set(1, "one")).unwrap();
    bob.sync().await.unwrap();
    assert_eq!(eve.sync().await.unwrap().new_entries, 1);

    // Eve deletes one row and inserts rows above; Bob, who is offline, edits the deleted row and
    // the row below.
    eve.edit(delete(0)).unwrap();
    eve.edit(insert(0)).unwrap();
    eve.sync().await.unwrap();
    bob.edit(set(0, "gone")).unwrap();
    bob.edit(insert(1)).unwrap();
    bob.edit(set(1, "between")).unwrap();
    assert_eq!(shown(&mut bob).await, ["0,0 gone", "1,0 between", "2,0 one"]);
    // A sync that is cut off after its first half: new entries are read, but nothing is sent.
    let viewer = world.cloud.token("bob", Role::Viewer);
    drop(bob);
    let mut bob = world.open_with(&viewer, folders[0].path()).await.unwrap();
    assert!(!bob.sync().await.unwrap_err().is_offline(), "the error means offline");
    let foretold: Vec<Outlook> =
        bob.pending().map(|(_, outlook)| outlook.unwrap().clone()).collect();
    let committed = |operation| Outlook::Committed(vec![operation]);
    let expected = [Outlook::Committed(vec![]), committed(insert(1)), committed(set(1, "between"))];
    assert_eq!(foretold, expected);
    assert_eq!(shown(&mut bob).await, ["1,0 between", "2,0 one"]);
    drop(bob);
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    let synced = bob.sync().await.unwrap();
    let outcomes: Vec<&EditOutcome> =
        synced.settled.iter().map(|settled| &settled.outcome).collect();
    assert_eq!(
        outcomes,
        [&EditOutcome::Transformed(vec![]), &EditOutcome::Unchanged, &EditOutcome::Unchanged]
    );
    assert_eq!(world.cells().await, ["1,0 between", "2,0 one"]);
    eve.sync().await.unwrap();
    assert_eq!(shown(&mut eve).await, world.cells().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_replies_and_doubled_requests_change_nothing() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    for number in 0..4_u32 {
        live.edit(insert(0)).unwrap();
        live.edit(set(0, &number.to_string())).unwrap();
        // All replies of this sync are lost.
        let lost = Faults { drop_reply: 100, twice: 50, ..Faults::default() };
        world.proxy.set(lost);
        assert!(live.sync().await.unwrap_err().is_offline());
        if number % 2 == 1 {
            drop(live);
            live = world.open("bob", folder.path()).await.unwrap();
        }
        world.proxy.set(Faults::default());
        assert_eq!(live.pending().count(), 2, "the outcomes are unknown");
        let synced = live.sync().await.unwrap();
        let first = u64::from(number) * 2 + 1;
        assert_eq!(ids(&synced), [first, first + 1]);
        assert_eq!(synced.new_entries, 0, "own edits count as new entries");
    }
    assert!(world.proxy.counts().dropped_replies >= 4);
    assert_eq!(world.cells().await, ["0,0 3", "1,0 2", "2,0 1", "3,0 0"]);
    assert_eq!(shown(&mut live).await, world.cells().await);
    assert_eq!(live.position(), at(4), "each sync makes one entry");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_rejected_is_reported_and_an_undo_is_left_to_the_server() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    live.edit(set(0, "a")).unwrap();
    let first = live.sync().await.unwrap();
    let made = first.settled[0].position.unwrap();
    live.edit(Operation::Undo(Undo { position: made })).unwrap();
    live.edit(set(1, "b")).unwrap();
    assert_eq!(shown(&mut live).await, ["0,0 a", "1,0 b"], "a pending undo is shown");
    let synced = live.sync().await.unwrap();
    assert!(
        matches!(&synced.settled[0].outcome, EditOutcome::Transformed(done) if done.len() == 1)
    );
    assert_eq!(shown(&mut live).await, ["1,0 b"]);
    live.edit(Operation::Undo(Undo { position: made })).unwrap();
    let again = live.sync().await.unwrap();
    let EditOutcome::Rejected(rejection) = &again.settled[0].outcome else { panic!("{again:?}") };
    assert_eq!(rejection.reason, RejectionReason::NothingToUndo);
    // An edit that is invalid in any state is not queued.
    assert!(matches!(
        live.edit(Operation::InsertRows(InsertBefore {
            sheet: SheetId::FIRST,
            before: 0,
            count: 0
        })),
        Err(LiveError::Invalid { .. })
    ));
    assert_eq!(live.pending().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_edits_and_new_sheets_are_shown_and_sent_like_any_other() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    world.proxy.set_offline(true);
    let sheet = live.next_sheet();
    live.edit(Operation::AddSheet(AddSheet { sheet, name: "Second".to_owned(), before: None }))
        .unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let noise = |_| random.alphanumeric();
    let text: String = (0..40_000).map(noise).collect();
    let long = Operation::SetCells(SetCells {
        sheet,
        cells: vec![CellEdit {
            row: 0,
            column: 0,
            value: Some(Value::Text(text.clone())),
            formula: None,
            format: None,
        }],
    });
    live.edit(long).unwrap();
    live.edit(set(0, "behind")).unwrap();
    drop(live);
    let mut live = world.open("bob", folder.path()).await.unwrap();
    let cells = live.view(Some("second"), Rectangle::EVERYTHING).await.unwrap().cells;
    assert_eq!(cells[0].cell.text(), text);
    assert_eq!(live.sheets().len(), 2);
    world.proxy.set_offline(false);
    assert_eq!(ids(&live.sync().await.unwrap()), [1, 2, 3]);
    let query = CellsQuery::of_sheet("Second");
    let reply =
        world.cloud.client("alice").spreadsheet(world.created.id).cells_page(&query).await.unwrap();
    assert_eq!(reply.cells[0].cell.text(), text);
    assert_eq!(live.view(Some("Second"), Rectangle::EVERYTHING).await.unwrap().cells, reply.cells);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_at_a_time_has_it_and_what_was_kept_may_be_lost() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    let second = world.open("bob", folder.path()).await.unwrap_err();
    assert!(matches!(second, LiveError::File(_)), "{second}");
    live.edit(set(0, "a")).unwrap();
    drop(live);
    let files = std::fs::read_dir(folder.path().join(".cellar/live")).unwrap();
    let kept = files.map(|file| file.unwrap().path());
    let kept: Vec<_> = kept.filter(|file| file.to_string_lossy().contains("kept")).collect();
    assert_eq!(kept.len(), 1);
    for damaged in [Some("{"), None] {
        match damaged {
            Some(text) => std::fs::write(&kept[0], text).unwrap(),
            None => std::fs::remove_file(&kept[0]).unwrap(),
        }
        world.proxy.set_offline(true);
        assert!(world.open("bob", folder.path()).await.unwrap_err().is_offline());
        world.proxy.set_offline(false);
        let mut live = world.open("bob", folder.path()).await.unwrap();
        assert_eq!((shown(&mut live).await, live.pending().count()), (vec!["0,0 a".to_owned()], 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_older_than_the_root_are_shown_where_they_belong_and_what_a_snapshot_has_is_not_doubled()
 {
    let configured =
        TestCloud::start_configured(Ports::default(), |config| config.snapshots.entries = 10);
    let world = World::over(configured.await).await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    // One request is executed without a reply, the other is lost.
    bob.edit(insert(0)).unwrap();
    world.proxy.set(Faults { drop_reply: 100, ..Faults::default() });
    bob.sync().await.unwrap_err();
    world.proxy.set(Faults::default());
    bob.edit(set(0, "mine")).unwrap();
    drop(bob);
    let mut eve = world.open("eve", folders[1].path()).await.unwrap();
    for _ in 0..12 {
        eve.edit(insert(0)).unwrap();
        eve.sync().await.unwrap();
    }
    wait_for_root(&world.cloud.client("alice"), world.created.id, Position::FIRST).await;
    let files = std::fs::read_dir(folders[0].path().join(".cellar/live")).unwrap();
    let kept = files.map(|file| file.unwrap().path());
    kept.filter(|file| file.to_string_lossy().contains("kept"))
        .for_each(|file| std::fs::remove_file(file).unwrap());
    // A viewer cannot append, so the entries before the root determine the outcome.
    let viewer = world.cloud.token("bob", Role::Viewer);
    let mut bob = world.open_with(&viewer, folders[0].path()).await.unwrap();
    assert!(!bob.sync().await.unwrap_err().is_offline());
    assert_eq!(shown(&mut bob).await, ["12,0 mine"]);
    drop(bob);
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    let synced = bob.sync().await.unwrap();
    assert_eq!(ids(&synced).last(), Some(&2));
    assert_eq!((shown(&mut bob).await, bob.pending().count()), (vec!["12,0 mine".to_owned()], 0));
    assert_eq!(world.cells().await, ["12,0 mine"]);
}

/// Returns the read and write units of the tables since the last call.
fn units(cloud: &TestCloud) -> (f64, u64) {
    let cost = cloud.meter.take();
    (cost.read_units(), cost.write_units)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_hour_costs_thirty_read_units() {
    let world = World::over(TestCloud::start_without_snapshots().await).await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = world.open("bob", folder.path()).await.unwrap();
    live.edit(set(0, "a")).unwrap();
    live.sync().await.unwrap();
    // `cellar_api::polling` polls sixty times per hour without changes.
    units(&world.cloud);
    for _ in 0..60 {
        assert!(!live.sync().await.unwrap().has_changes());
    }
    assert_eq!(units(&world.cloud), budgets::IDLE_HOUR.units());
    // An edit costs one write and the read of its entry.
    live.edit(set(1, "b")).unwrap();
    live.sync().await.unwrap();
    let (reads, writes) = units(&world.cloud);
    assert_eq!(writes, 1);
    assert!(reads <= 1.0, "{reads}");
}
