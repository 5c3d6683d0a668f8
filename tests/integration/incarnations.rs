//! Tables restored to a point in time: later edits are lost, and their positions are used again. No
//! process or client may confuse the two histories.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use cellar::editor::Editor;
use cellar::{CellsQuery, Client};
use cellar_api::{
    wire::AppendRequest, wire::CreateRequest, wire::MutationStatus, wire::ProblemKind,
};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_engine::ports::Entries as _;
use cellar_runtime::dynamodb::DynamoTables;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, at, set_numbers};

/// Deletes the entries after `last`, as in tables that were restored to that time.
pub(crate) async fn restore(cloud: &TestCloud, log: LogId, last: Position) {
    let (client, table) = (cloud.dynamodb_client(), &cloud.settings.entry_table);
    let partition =
        AttributeValue::B(cellar_log::records::entry::partition(log, last.segment()).into());
    let behind = client.query().table_name(table).key_condition_expression("S = :s AND N > :n");
    let behind = behind
        .expression_attribute_values(":s", partition)
        .expression_attribute_values(":n", AttributeValue::N(last.entry_number().to_string()));
    for item in behind.send().await.unwrap().items() {
        let key = ["S", "N"].map(|name| (name.to_owned(), item[name].clone()));
        let delete = client.delete_item().table_name(table).set_key(Some(HashMap::from(key)));
        delete.send().await.unwrap();
    }
}

struct World {
    cloud: TestCloud,
    before: Client,
    after: Client,
}

impl World {
    /// Starts an API process from before the restore, and one with the new incarnation.
    async fn start() -> Self {
        let cloud = TestCloud::start().await;
        let token = cloud.token("alice", Role::Owner);
        let client =
            |url: &str| Client::new(url, Some(&token)).unwrap().with_identity(Some("the stack"));
        let (before, after) = (client(&cloud.url), client(&cloud.api_at_incarnation(1).await));
        Self { cloud, before, after }
    }
}

fn nonce(nonce: &str) -> CreateRequest {
    CreateRequest::new(nonce.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_knows_what_was_restored_away_has_to_load_again() {
    let World { cloud, before, after } = World::start().await;
    let created = before.create(&nonce("who knows")).await.unwrap();
    assert_eq!(created.incarnation, 0);
    for id in 1..=3 {
        let base = at(u32::try_from(id).unwrap() - 1);
        let request = append_one(created, "client", id, base, set_numbers(&[1.0]));
        before.spreadsheet(created.id).append(&request).await.unwrap();
    }
    restore(&cloud, created.id, at(1)).await;

    // A base that still exists and a base that does not: both belong to the old incarnation.
    for base in [at(1), at(3)] {
        let request = append_one(created, "client", 4, base, set_numbers(&[4.0]));
        let refused = after.spreadsheet(created.id).append(&request).await.unwrap_err();
        let kinds = [Some(ProblemKind::ReloadRequired), Some(ProblemKind::UnknownBase)];
        assert!(kinds.contains(&refused.problem_kind()), "{base}: {refused}");
    }
    let head = after.spreadsheet(created.id).head().await.unwrap();
    assert_eq!((head.head, head.incarnation), (at(1), 1));
    let load = after.spreadsheet(created.id).load(None).await.unwrap();
    assert_eq!((load.head, load.incarnation), (at(1), 1));
    let cells = after.spreadsheet(created.id).cells_page(&CellsQuery::default()).await.unwrap();
    assert_eq!((cells.position, cells.incarnation), (at(1), 1));

    // Acknowledged mutations that were lost do not block the numbering.
    let request = AppendRequest {
        incarnation: 1,
        acked_id: 3,
        ..append_one(created, "client", 4, at(1), set_numbers(&[4.0]))
    };
    let reply = after.spreadsheet(created.id).append(&request).await.unwrap();
    assert_eq!(reply.results[0].status, MutationStatus::Appended);
    assert_eq!(reply.results[0].position, Some(at(2)), "the position is used again");
    // Even if the stack loses its incarnation, the log does not return to the old one.
    let tables = DynamoTables::named(
        &cloud.settings.entry_table,
        &cloud.settings.segment_table,
        cloud.dynamodb_client(),
        Default::default(),
    );
    let incarnation =
        async |num| tables.get(created.id, at(num)).await.unwrap().unwrap().header.incarnation;
    assert_eq!((incarnation(1).await, incarnation(2).await), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_spreadsheet_begins_with_the_incarnation_of_the_tables() {
    let World { cloud: _cloud, after, .. } = World::start().await;
    let created = after.create(&nonce("new")).await.unwrap();
    assert_eq!(created.incarnation, 1);
    assert_eq!(
        after.create(&nonce("new")).await.unwrap(),
        created,
        "a repetition finds the spreadsheet"
    );
    let request = append_one(created, "client", 1, created.head, set_numbers(&[1.0]));
    let reply = after.spreadsheet(created.id).append(&request).await.unwrap();
    assert_eq!(reply.results[0].status, MutationStatus::Appended);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_goes_on_by_itself() {
    let World { cloud, before, after } = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let created = before.create(&nonce("goes on")).await.unwrap();
    let editor = |client: &Client| Editor::new(client.spreadsheet(created.id), folder.path());
    for number in [1.0, 2.0, 3.0] {
        editor(&before).apply(set_numbers(&[number])).await.unwrap();
    }
    restore(&cloud, created.id, at(1)).await;
    let applied = editor(&after).apply(set_numbers(&[4.0])).await.unwrap();
    assert_eq!(applied.position, at(2));
    let load = after.spreadsheet(created.id).load(None).await.unwrap();
    assert_eq!(load.entries.len(), 3, "the edit is in the log once, after the restored entries");
    editor(&after).apply(set_numbers(&[5.0])).await.unwrap();
    let cells = after.spreadsheet(created.id).cells_page(&CellsQuery::default()).await.unwrap();
    assert_eq!(cells.cells[0].cell.text(), "5");
}
