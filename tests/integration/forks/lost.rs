//! A fork whose response is lost.

use cellar_sheet::operation::Operation;
use cellar_tests::edits::set_numbers;
use cellar_tests::proxy::LossyProxy;

use super::*;
use crate::snapshot_reads::Author;

fn one() -> Operation {
    set_numbers(&[1.0])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_whose_answer_is_lost_is_the_one_that_a_repetition_finds() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "lost").await;
    let source = author.created.id;
    let forked_at = author.edit(&cloud, one()).await;
    let proxy = LossyProxy::start(&cloud.url, "/forks").await;
    let token = cloud.token("alice", Role::Owner);
    let client = cellar::Client::new(&proxy.url, Some(&token)).unwrap();
    let request = ForkRequest::new("lost".to_owned(), None);
    proxy.lose(1);
    // The client retries automatically.
    let made = client.spreadsheet(source).fork(&request).await.unwrap();
    assert_eq!((proxy.lost(), made.source, made.position), (1, source, forked_at));
    // A later repetition finds the same fork, although the source and the fork were edited.
    author.edit(&cloud, one()).await;
    let created = cellar_api::wire::CreateReply { id: made.id, ..author.created };
    Author { created, base: made.head, id: 1_000 }.edit(&cloud, one()).await;
    proxy.lose(2);
    assert_eq!(client.spreadsheet(source).fork(&request).await.unwrap(), made);
    assert_eq!(proxy.lost(), 3);
    let body = serde_json::to_string(&request).unwrap();
    let (status, _) = answer(&cloud, &token, &format!("{source}/forks"), Some(&body)).await;
    assert_eq!(status, 200, "the fork already existed");
    let listed = cloud.client("alice").spreadsheet(source).forks_page(None).await.unwrap().forks;
    assert_eq!(listed.iter().map(|fork| fork.id).collect::<Vec<_>>(), [made.id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_whose_answer_is_lost_makes_one_fork() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "lost below").await;
    let source = author.created.id;
    author.edit(&cloud, one()).await;
    let needle = "DynamoDB_20120810.TransactWriteItems";
    let proxy = LossyProxy::start(&cloud.database_url, needle).await;
    let token = cloud.token("alice", Role::Owner);
    let url = cloud.another_api(&proxy.url).await;
    let client = cellar::Client::new(&url, Some(&token)).unwrap();
    let request = ForkRequest::new("lost below".to_owned(), None);
    proxy.lose(1);
    let made = client.spreadsheet(source).fork(&request).await.unwrap();
    assert_eq!((proxy.lost(), made.position), (1, author.base));
    assert_eq!(made.head, author.base.next_segment().unwrap());
    assert_eq!(made, fork(&cloud, source, "lost below", None).await);
    let listed = cloud.client("alice").spreadsheet(source).forks_page(None).await.unwrap().forks;
    assert_eq!(listed.len(), 1, "the fork is listed once");
}
