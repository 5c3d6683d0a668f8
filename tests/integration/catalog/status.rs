//! Archived, deleted and undeleted spreadsheets.

use cellar_api::wire::SpreadsheetStatus;

use super::*;

fn status(status: &str) -> Value {
    json!({"status": status})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_archived_is_read_and_not_changed() {
    let world = World::new().await;
    let [alice, eve] = ["alice", "eve"].map(|name| world.person(name));
    alice.share("eve", "editor").await.unwrap();
    assert_eq!(kind(eve.update(status("archived")).await), ProblemKind::Forbidden);
    let archived = alice.update(status("archived")).await.unwrap();
    assert_eq!(archived.status, SpreadsheetStatus::Archived);
    assert!(archived.status_since_s.is_some());
    assert_eq!(alice.update(status("archived")).await.unwrap(), archived);
    let operator = world.holder(&world.cloud.token("root", cellar_catalog::access::Role::Owner));
    for somebody in [&alice, &eve, &operator] {
        assert!(somebody.reads().await.is_ok());
        assert_eq!(kind(somebody.writes("x").await), ProblemKind::Archived);
        assert_eq!(kind(somebody.update(json!({"name": "x"})).await), ProblemKind::Archived);
    }
    let body = json!({"status": "active", "name": "Again"});
    let restored = alice.update(body).await.unwrap();
    assert_eq!((restored.status, restored.name.as_str()), (SpreadsheetStatus::Active, "Again"));
    assert!(eve.writes("eve").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_is_gone_for_all_but_its_owners_who_restore_it() {
    let world = World::new().await;
    let [alice, eve] = ["alice", "eve"].map(|name| world.person(name));
    alice.share("eve", "editor").await.unwrap();
    assert!(alice.writes("alice").await.is_ok());
    let deleted = alice.update(status("deleted")).await.unwrap();
    assert_eq!(deleted.status, SpreadsheetStatus::Deleted);
    for end in ["", "/head", "/entries?after=0", "/cells", "/history", "/forks", "/stats"] {
        let response = alice.about(Method::GET, end, None).await;
        assert_eq!(response.status(), 410, "{end}");
        assert_eq!(kind(answer::<Value>(response).await), ProblemKind::Deleted);
        let response = eve.about(Method::GET, end, None).await;
        assert_eq!(response.status(), 404, "{end}");
    }
    assert_eq!(kind(alice.writes("later").await), ProblemKind::Deleted);
    assert_eq!(kind(alice.share("bob", "viewer").await), ProblemKind::Deleted);
    assert_eq!(kind(eve.details().await), ProblemKind::NotFound);
    assert_eq!(kind(eve.update(status("active")).await), ProblemKind::NotFound);
    assert_eq!(alice.details().await.unwrap().status, SpreadsheetStatus::Deleted);
    assert_eq!(alice.update(status("active")).await.unwrap().status, SpreadsheetStatus::Active);
    assert!(eve.reads().await.is_ok());
    let history = alice.about(Method::GET, "/history", None).await.text().await.unwrap();
    assert!(history.contains("\"alice\""), "the history is complete: {history}");
}
