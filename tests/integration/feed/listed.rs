//! Lists of spreadsheets.

use cellar::SpreadsheetsQuery;
use cellar_api::{wire::PersonRequest, wire::SpreadsheetStatus};
use cellar_base::limits::MAX_LIST_PAGE;
use cellar_catalog::access::Role;

use super::{World, list, names, rename, set_status, share, until};

fn any() -> SpreadsheetsQuery {
    SpreadsheetsQuery::default()
}

fn row(name: &str, role: Role) -> (String, Role) {
    (name.to_owned(), role)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_follows_the_catalog() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice"), world.person("bob"));
    assert_eq!(names(&alice, &any()).await, []);
    let budget = world.create(&alice, "Budget").await;
    world.create(&alice, "Plan").await;
    let own = vec![row("Budget", Role::Owner), row("Plan", Role::Owner)];
    until(own, async || names(&alice, &any()).await).await;
    assert_eq!(names(&bob, &any()).await, []);
    share(&alice, budget, "bob", Role::Editor).await;
    until(vec![row("Budget", Role::Editor)], async || names(&bob, &any()).await).await;
    // Every member's list has the new name.
    rename(&bob, budget, "Überblick").await;
    until(vec![row("Überblick", Role::Editor)], async || names(&bob, &any()).await).await;
    let own = vec![row("Plan", Role::Owner), row("Überblick", Role::Owner)];
    until(own, async || names(&alice, &any()).await).await;
    share(&alice, budget, "bob", Role::Viewer).await;
    until(vec![row("Überblick", Role::Viewer)], async || names(&bob, &any()).await).await;
    let leaves = PersonRequest { subject: "bob".to_owned(), issuer: None };
    alice.spreadsheet(budget).unshare(&leaves, None).await.unwrap();
    until(vec![], async || names(&bob, &any()).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_archived_or_deleted_is_in_lists_of_its_own() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice"), world.person("bob"));
    let id = world.create(&alice, "Budget").await;
    share(&alice, id, "bob", Role::Viewer).await;
    until(1, async || names(&bob, &any()).await.len()).await;
    let of = |status| any().with_status(status);
    use SpreadsheetStatus::{Active, Archived, Deleted};
    for (status, alices, bobs) in [
        (Archived, Archived, Some(Archived)),
        (Active, Active, Some(Active)),
        (Deleted, Deleted, None),
        (Active, Active, Some(Active)),
    ] {
        set_status(&alice, id, status).await;
        until(1, async || names(&alice, &of(alices)).await.len()).await;
        for other in [Active, Archived, Deleted].into_iter().filter(|other| *other != alices) {
            assert_eq!(names(&alice, &of(other)).await, [], "{other:?}");
        }
        for one in [Active, Archived, Deleted] {
            let seen = usize::from(bobs == Some(one));
            until(seen, async || names(&bob, &of(one)).await.len()).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_searched_and_paged() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice"), world.person("bob"));
    for number in 0..12 {
        let id = world.create(&alice, &format!("Budget {number}")).await;
        if number % 3 == 0 {
            share(&alice, id, "bob", Role::Owner).await;
        }
    }
    let plan = world.create(&bob, "Plan").await;
    share(&bob, plan, "alice", Role::Viewer).await;
    until(13, async || names(&alice, &any()).await.len()).await;
    let count = async |query: SpreadsheetsQuery| names(&alice, &query).await.len();
    let named = |name: &str| any().with_name(name);
    assert_eq!(count(named("bUDGET")).await, 12);
    assert_eq!(count(named("1")).await, 3);
    assert_eq!(count(named("plan")).await, 1);
    assert_eq!(count(any().with_mine(true)).await, 12);
    assert_eq!(count(any().with_mine(false)).await, 1);
    for limit in [1, 5, 13, MAX_LIST_PAGE] {
        let mut ids: Vec<_> = list(&alice, &any().with_limit(limit)).await;
        ids.dedup_by_key(|one| one.id);
        assert_eq!(ids.len(), 13, "{limit}");
    }
    until(5, async || names(&bob, &any()).await.len()).await;
    // A token for some spreadsheets lists only these, with at most the role of the token.
    let some = world.cloud.token_for("alice", Role::Viewer, vec![plan]);
    let some = cellar::Client::new(&world.cloud.url, Some(&some)).unwrap();
    assert_eq!(names(&some, &any()).await, [row("Plan", Role::Viewer)]);
}
