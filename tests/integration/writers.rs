//! Many concurrent writers over HTTP.

use std::collections::BTreeMap;

use cellar_api::{wire::EntryView, wire::MutationStatus};
use cellar_base::position::Position;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, set_numbers};

const WRITERS: u32 = 16;
const BATCHES: u64 = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_batch_is_in_the_log_exactly_once() {
    let cloud = TestCloud::start().await;
    let client = cloud.client("alice");
    let created = client.create(&nonce("writers")).await.unwrap();
    // Two API processes, each of which has not cached the other's newest entries.
    let urls = [cloud.url.clone(), cloud.another_api(&cloud.database_url).await];
    let token = cloud.token("alice", cellar_catalog::access::Role::Editor);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let url = urls[writer as usize % urls.len()].clone();
            let client = cellar::Client::new(&url, Some(&token)).unwrap();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                let mut base = created.head;
                for id in 1..=BATCHES {
                    let edit = set_numbers(&[f64::from(writer), id as f64]);
                    let name = format!("writer-{writer}");
                    let request = append_one(created, &name, id, base, edit);
                    let reply = client.spreadsheet(created.id).append(&request).await.unwrap();
                    assert_eq!(reply.results[0].status, MutationStatus::Appended);
                    acknowledged.push((f64::from(writer), id, reply.results[0].position.unwrap()));
                    base = reply.head;
                }
                acknowledged
            })
        })
        .collect();
    let mut acknowledged = BTreeMap::new();
    for writer in writers {
        for (writer, id, position) in writer.await.unwrap() {
            let before = acknowledged.insert(position, (writer, id));
            assert_eq!(before, None, "two batches at {position}");
        }
    }

    let entries = all_entries(&client, created.id).await;
    let expected = usize::try_from(u64::from(WRITERS) * BATCHES).unwrap();
    let edits = entries.iter().filter(|entry| !entry.mutations.is_empty()).count();
    assert_eq!(edits, expected);
    for (num, entry) in (1..).zip(&entries) {
        assert_eq!(entry.position, Position::new(0, num).unwrap(), "the numbers have a gap");
        let found = entry.mutations.iter().map(|mutation| {
            let cellar_sheet::operation::Operation::SetCells(set) = &mutation.op else { panic!() };
            let cellar_sheet::cell::Value::Number(writer) = set.cells[0].value.clone().unwrap()
            else {
                panic!("{set:?}")
            };
            (writer, mutation.id)
        });
        let found: Vec<_> = found.collect();
        let expected: Vec<_> = acknowledged.get(&entry.position).copied().into_iter().collect();
        assert_eq!(found, expected, "at {}", entry.position);
    }
}

fn nonce(nonce: &str) -> cellar_api::wire::CreateRequest {
    cellar_api::wire::CreateRequest::new(nonce.to_owned())
}

/// Returns all entries except the first, including Snapshot entries.
async fn all_entries(client: &cellar::Client, id: cellar_base::identity::LogId) -> Vec<EntryView> {
    let (mut entries, mut next) = (Vec::new(), Some(Position::FIRST));
    while let Some(after) = next {
        let updated = client.spreadsheet(id).entries_page(after).await.unwrap();
        entries.extend(updated.entries);
        next = updated.next;
    }
    entries
}
