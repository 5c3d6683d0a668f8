//! Live sheets of a spreadsheet that was restored to an earlier time.

use cellar::Client;
use cellar::live::LiveSheet;
use cellar_catalog::access::Role;
use cellar_sheet::operation::{AddSheet, Operation, RenameSheet, SheetId};
use cellar_tests::edits::at;
use cellar_tests::faulty_proxy::{Faults, FaultyProxy};

use super::{World, ids, set, shown};
use crate::incarnations::restore;

/// Opens the same live sheet through another proxy. The API keeps its name.
async fn open(world: &World, proxy: &FaultyProxy, folder: &std::path::Path) -> LiveSheet {
    let token = world.cloud.token("bob", Role::Editor);
    let client = Client::new(&proxy.url, Some(&token)).unwrap().with_identity(Some("the stack"));
    LiveSheet::open(client.spreadsheet(world.created.id), folder).await.unwrap()
}

/// Returns a live sheet with three edits, each an entry.
async fn with_three_edits() -> (World, tempfile::TempDir, LiveSheet) {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut live = open(&world, &world.proxy, folder.path()).await;
    for number in 1..=3 {
        live.edit(set(number, &number.to_string())).unwrap();
        live.sync().await.unwrap();
    }
    (world, folder, live)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_got_through_is_made_again_and_what_may_have_is_set_aside() {
    let (world, folder, mut live) = with_three_edits().await;
    // This edit gets no reply.
    live.edit(set(4, "perhaps")).unwrap();
    world.proxy.set(Faults { drop_reply: 100, ..Faults::default() });
    live.sync().await.unwrap_err();
    world.proxy.set(Faults::default());
    world.proxy.set_offline(true);
    // These edits were never sent. Another client will use the number of the new sheet.
    let sheet = live.next_sheet();
    live.edit(set(5, "never")).unwrap();
    live.edit(Operation::AddSheet(AddSheet { sheet, name: "Mine".to_owned(), before: None }))
        .unwrap();
    let renamed = RenameSheet { sheet, name: "Renamed".to_owned() };
    live.edit(Operation::RenameSheet(renamed)).unwrap();
    drop(live);

    restore(&world.cloud, world.created.id, at(2)).await;
    let url = world.cloud.api_at_incarnation(1).await;
    let token = world.cloud.token("eve", Role::Editor);
    let other = Client::new(&url, Some(&token)).unwrap();
    let taken = tempfile::tempdir().unwrap();
    let mut eve = LiveSheet::open(other.spreadsheet(world.created.id), taken.path()).await.unwrap();
    eve.edit(Operation::AddSheet(AddSheet { sheet, name: "Theirs".to_owned(), before: None }))
        .unwrap();
    eve.sync().await.unwrap();

    let proxy = FaultyProxy::start(&url, 1).await;
    let mut live = open(&world, &proxy, folder.path()).await;
    assert_eq!(live.pending().count(), 4, "the reopened sheet does not know of the restore yet");
    let synced = live.sync().await.unwrap();
    assert_eq!((synced.reapplied, synced.set_aside.len()), (3, 1));
    let aside = std::fs::read_to_string(&synced.set_aside[0].file).unwrap();
    assert!(aside.contains("perhaps") && !aside.contains("never"), "{aside}");
    let synced = live.sync().await.unwrap();
    assert_eq!(ids(&synced), [1, 2, 3], "the ids are those of a new client");
    assert_eq!(shown(&mut live).await, ["1,0 1", "2,0 2", "5,0 never"]);
    let names: Vec<(SheetId, String)> =
        live.sheets().into_iter().map(|sheet| (sheet.sheet, sheet.name)).collect();
    let next = SheetId(sheet.0 + 1);
    let expected = [(SheetId::FIRST, "Sheet1"), (sheet, "Theirs"), (next, "Renamed")];
    assert_eq!(names, expected.map(|(sheet, name)| (sheet, name.to_owned())));
    // The outcome is reported once: neither another sync nor a restart reports it again.
    drop(live);
    let mut live = open(&world, &proxy, folder.path()).await;
    assert!(!live.sync().await.unwrap().has_changes());
    assert_eq!((live.pending().count(), live.position()), (0, at(4)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_with_nothing_waiting_is_only_news() {
    let (world, folder, live) = with_three_edits().await;
    drop(live);
    restore(&world.cloud, world.created.id, at(1)).await;
    let proxy = FaultyProxy::start(&world.cloud.api_at_incarnation(1).await, 1).await;
    let mut live = open(&world, &proxy, folder.path()).await;
    let synced = live.sync().await.unwrap();
    assert_eq!((synced.reapplied, synced.set_aside.len(), synced.position), (0, 0, at(1)));
    assert_eq!(shown(&mut live).await, ["1,0 1"]);
    live.edit(set(0, "after")).unwrap();
    live.sync().await.unwrap();
    assert_eq!(shown(&mut live).await, ["0,0 after", "1,0 1"]);
}
