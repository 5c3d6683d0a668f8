//! The write limit of the Entry table. The fake does not remove it with the property, because AWS
//! does not document that CloudFormation does.

use std::fs;

use cellar_stacks::cellar::OUTPUT_ENTRY_TABLE;

use super::account::{Account, faked};
use super::fake::{Fake, FakeTable, Fault};

const LIMITED: &str = "limits: {write_units_per_second: 500}\n";

async fn limited() -> (Fake, Account) {
    let (fake, account) = faked().await;
    {
        let mut world = fake.world();
        world.deployed("UPDATE_COMPLETE");
        let output = (OUTPUT_ENTRY_TABLE, "entries".to_owned());
        world.stack.as_mut().unwrap().outputs.push(output);
        world.tables.0 = [("entries", FakeTable::limited(500))].into();
    }
    (fake, account)
}

fn limit(fake: &Fake) -> Option<i64> {
    fake.world().tables.0["entries"].write_limit()
}

async fn deploy(account: &Account) -> String {
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
    run.stderr
}

#[tokio::test]
async fn a_limit_that_is_no_longer_configured_is_removed() {
    let (fake, account) = limited().await;
    let said = deploy(&account).await;
    assert!(said.contains("Removed the limit of 500 write units per second from"), "{said}");
    assert_eq!(limit(&fake), None);
    let said = deploy(&account).await;
    assert!(!said.contains("limit"), "{said}");
    let updates = fake.world().asked.iter().filter(|asked| *asked == "UpdateTable").count();
    assert_eq!(updates, 1);
}

#[tokio::test]
async fn a_configured_limit_is_left_to_cloudformation() {
    let (fake, account) = limited().await;
    fs::write(account.path("cellar.yaml"), LIMITED).unwrap();
    deploy(&account).await;
    assert_eq!(limit(&fake), Some(500));
    assert!(!fake.world().asked.iter().any(|asked| asked.ends_with("Table")));
}

#[tokio::test]
async fn a_limit_that_cannot_be_removed_is_told() {
    let (fake, account) = limited().await;
    let message = "User u is not authorized to perform: dynamodb:UpdateTable on resource: t";
    fake.fail("UpdateTable", 1, Fault::Error(400, "AccessDeniedException", message.to_owned()));
    let said = deploy(&account).await;
    assert!(said.contains("The table entries may still limit its write throughput"), "{said}");
    assert_eq!(limit(&fake), Some(500));
}
