//! DynamoDB, through the SDK and HTTP, satisfies the contract of the ports.

use cellar_tests::cloud::TestCloud;

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_passes_the_contract() {
    let cloud = TestCloud::start_without_snapshots().await;
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    cellar_engine::contract::tables(tables.as_ref()).await;
    cellar_engine::contract::presences(tables.as_ref()).await;
}
