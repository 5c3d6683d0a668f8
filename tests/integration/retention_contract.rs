//! DynamoDB, through the SDK and HTTP, satisfies the contract of offloading and trimming.

use cellar_tests::cloud::TestCloud;

#[tokio::test(flavor = "multi_thread")]
async fn dynamodb_passes_the_contract_of_retention() {
    let cloud = TestCloud::start_without_snapshots().await;
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    cellar_engine::contract::retention(tables.as_ref()).await;
}
