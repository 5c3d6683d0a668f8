//! Deletion of a stack's data. DynamoDB changes and deletes tables in the background, and rejects
//! other changes of a table meanwhile.

use cellar_stacks::cellar::{OUTPUT_ENTRY_TABLE, OUTPUT_SEGMENT_TABLE};

use super::account::faked;
use super::fake::FakeTable;

#[tokio::test]
async fn the_stack_is_deleted_after_its_tables_are_gone() {
    let (fake, account) = faked().await;
    {
        let mut world = fake.world();
        world.deployed("UPDATE_COMPLETE");
        world.stack.as_mut().unwrap().outputs.extend([
            (OUTPUT_ENTRY_TABLE, "entries".to_owned()),
            (OUTPUT_SEGMENT_TABLE, "segments".to_owned()),
        ]);
        world.tables.0 =
            [("entries", FakeTable::protected()), ("segments", FakeTable::updating())].into();
    }
    fake.when("DeleteStack", |world| {
        assert!(world.tables.0.is_empty(), "{:?}", world.tables);
    });
    let run = account.run(&["destroy", "--yes", "--delete-data"]).await;
    assert_eq!(run.code, 0, "{run:?}");
    assert!(fake.world().tables.0.is_empty());
    assert!(fake.world().stack.is_none());
    assert!(run.stdout.contains("and all its data"), "{run:?}");
}
