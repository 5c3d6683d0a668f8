//! Permission to fork, and the access of a token for a fork alone.

use cellar_api::{wire::ForksReply, wire::LoadReply};

use super::*;
use crate::snapshot_reads::{Author, operation};

#[tokio::test(flavor = "multi_thread")]
async fn forking_needs_both_rights_and_what_is_hidden_does_not_exist() {
    let cloud = TestCloud::start_without_snapshots().await;
    let author = Author::new(&cloud, "rights").await;
    let (log, path) = (author.created.id, format!("{}/forks", author.created.id));
    let body = Some(r#"{"nonce":"n"}"#);
    let viewer = cloud.token("bob", Role::Viewer);
    assert_eq!(answer(&cloud, &viewer, &path, body).await.0, 403);
    // A token for one spreadsheet could not read its fork.
    let only = token(&cloud, Role::Owner, vec![log]);
    assert_eq!(answer(&cloud, &only, &path, body).await.0, 403);
    let stranger = token(&cloud, Role::Owner, vec![]);
    let hidden = answer(&cloud, &stranger, &path, body).await;
    let nowhere = "01010101-0101-8101-8101-010101010101/forks";
    let absent = answer(&cloud, &cloud.token("bob", Role::Editor), nowhere, body).await;
    assert_eq!((hidden.0, &hidden), (404, &absent), "the same bytes");
    assert_eq!(answer(&cloud, &stranger, &path, None).await, absent);
    assert_eq!(answer(&cloud, &cloud.token("bob", Role::Viewer), nowhere, None).await, absent);

    let editor = cloud.token("bob", Role::Editor);
    for (body, status) in [
        (r#"{"nonce":"n"}"#, 201),
        (r#"{"nonce":"n"}"#, 200),
        (r#"{"nonce":"n","at":0}"#, 200),
        (r#"{"nonce":"other","at":9}"#, 422),
        (r#"{"nonce":"other","at":9007199254740992}"#, 422),
        (r#"{"nonce":""}"#, 422),
        (r#"{"nonce":"n","more":1}"#, 422),
        (r"{}", 422),
        (r"{", 400),
    ] {
        assert_eq!(answer(&cloud, &editor, &path, Some(body)).await.0, status, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_a_fork_reads_what_it_inherits_and_nothing_else() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "fork alone").await;
    let shared = author.edit(&cloud, operation(1)).await;
    let source = author.created.id;
    let one = fork(&cloud, source, "one", Some(shared)).await;
    let two = fork(&cloud, source, "two", Some(shared)).await;
    author.edit(&cloud, operation(2)).await;

    let alone = token(&cloud, Role::Editor, vec![one.id]);
    let (status, load) = answer(&cloud, &alone, &one.id.to_string(), None).await;
    let load: LoadReply = serde_json::from_str(&load).unwrap();
    assert_eq!((status, load.source), (200, None), "the source is revealed");
    assert_eq!(load.head, one.head);
    assert!(load.entries.iter().any(|entry| entry.position == shared));
    for path in [source.to_string(), two.id.to_string(), format!("{source}/forks")] {
        assert_eq!(answer(&cloud, &alone, &path, None).await.0, 404, "{path}");
    }
    // The list has only the spreadsheets of the token.
    let listed = async |logs: Vec<LogId>| {
        let token = token(&cloud, Role::Viewer, logs);
        let (status, forks) = answer(&cloud, &token, &format!("{source}/forks"), None).await;
        assert_eq!(status, 200);
        let forks: ForksReply = serde_json::from_str(&forks).unwrap();
        forks.forks.into_iter().map(|fork| (fork.id, fork.author)).collect::<Vec<_>>()
    };
    let by_alice = |id| (id, Some("alice".to_owned()));
    assert_eq!(listed(vec![source]).await, []);
    assert_eq!(listed(vec![source, two.id]).await, [by_alice(two.id)]);
    assert_eq!(listed(vec![source, two.id, one.id]).await, [by_alice(one.id), by_alice(two.id)]);
    let all = cloud.client("alice").spreadsheet(one.id).load(None).await.unwrap();
    let from = all.source.unwrap();
    assert_eq!((from.spreadsheet, from.position), (source, shared));
}
