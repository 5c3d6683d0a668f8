//! Formulas of a live sheet.

use cellar_sheet::a1::{CellName, Range};
use cellar_sheet::cell::typed_cell;

use super::*;

fn typed(cells: &[(&str, &str)]) -> Operation {
    let edit = |(cell, text): &(&str, &str)| {
        CellEdit::typed(cell.parse::<CellName>().unwrap(), typed_cell(text))
    };
    let cells = cells.iter().map(edit).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Returns what the first row shows. A star marks a stale value.
async fn first_row(live: &mut LiveSheet) -> Vec<String> {
    let row = "1:1".parse::<Range>().unwrap().rectangle;
    let cells = live.view(None, row).await.unwrap().cells;
    let shown = |cell: &cellar_api::wire::CellAt| {
        format!("{}{}", cell.text(), if cell.stale { " *" } else { "" })
    };
    cells.iter().map(shown).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_edit_changes_the_formulas_below_it_or_they_are_marked() {
    let configured =
        TestCloud::start_configured(Ports::default(), |config| config.snapshots.entries = 10);
    let world = World::over(configured.await).await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut eve = world.open("eve", folders[1].path()).await.unwrap();
    let beyond = "=SUM(SEQUENCE(99999999))+A1";
    eve.edit(typed(&[("A1", "2"), ("B1", "=A1*10"), ("C1", "=B1+1"), ("D1", beyond)])).unwrap();
    for number in 0..12_u32 {
        eve.edit(set(40 + number, "more")).unwrap();
        eve.sync().await.unwrap();
    }
    // The values of B1 and C1 are stored in the snapshot.
    wait_for_root(&world.cloud.client("alice"), world.created.id, Position::FIRST).await;
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    assert_eq!(first_row(&mut bob).await, ["2", "20", "21", " *"]);
    world.proxy.set_offline(true);
    bob.edit(typed(&[("A1", "3")])).unwrap();
    assert_eq!(first_row(&mut bob).await, ["3", "30", "31", " *"]);
    drop(bob);
    let mut bob = world.open("bob", folders[0].path()).await.unwrap();
    assert_eq!(first_row(&mut bob).await, ["3", "30", "31", " *"], "the edit is still pending");
    bob.edit(typed(&[("E1", "=SUM(A1:C1)")])).unwrap();
    assert_eq!(first_row(&mut bob).await, ["3", "30", "31", " *", "64"]);
    world.proxy.set_offline(false);
    bob.sync().await.unwrap();
    eve.sync().await.unwrap();
    assert_eq!(first_row(&mut eve).await, first_row(&mut bob).await);
}
