//! Share links.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar_api::wire::LinkReply;

use super::*;

fn secret(byte: u8) -> String {
    URL_SAFE_NO_PAD.encode([byte; 16])
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

async fn add(caller: &Caller<'_>, body: Value) -> Result<LinkReply, Problem> {
    answer(caller.about(Method::POST, "/links", Some(body)).await).await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_a_link_may_do_what_it_allows_until_it_is_ended() {
    let world = World::new().await;
    let alice = world.person("alice");
    let body = json!({"secret": secret(1), "role": "editor", "label": "press"});
    let link = add(&alice, body.clone()).await.unwrap();
    assert_eq!(add(&alice, body).await.unwrap(), link, "a repetition returns the same link");
    let viewer = add(&alice, json!({"secret": secret(2), "role": "viewer"})).await.unwrap();
    let editor = world.holder(&link.token);
    assert!(editor.reads().await.is_ok() && editor.writes("caller").await.is_ok());
    assert_eq!(editor.details().await.unwrap().links, None);
    let viewer = world.holder(&viewer.token);
    assert!(viewer.reads().await.is_ok());
    assert_eq!(kind(viewer.writes("other").await), ProblemKind::Forbidden);
    assert_eq!(kind(editor.share("mallory", "viewer").await), ProblemKind::Forbidden);
    // The history names the link.
    let history = editor.about(Method::GET, "/history", None).await.text().await.unwrap();
    assert!(history.contains(&format!("\"link {}\"", link.id)), "{history}");
    let told = alice.details().await.unwrap().links.unwrap();
    let labels: Vec<_> = told.iter().map(|link| (link.id.as_str(), link.label.as_str())).collect();
    assert_eq!(labels[0], (link.id.as_str(), "press"));
    let end = format!("/links/{}", link.id);
    for _ in 0..2 {
        let left: DetailsReply =
            answer(alice.about(Method::DELETE, &end, None).await).await.unwrap();
        assert_eq!(left.links.unwrap().len(), 1);
    }
    let refused = editor.reads().await.unwrap_err();
    assert_eq!(refused.kind, ProblemKind::InvalidLink);
    assert!(refused.detail.contains("has expired or was revoked"), "{refused}");
    assert!(viewer.reads().await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_ends_by_itself() {
    let world = World::new().await;
    let alice = world.person("alice");
    let body =
        |expires_s: u64| json!({"secret": secret(1), "role": "viewer", "expires_s": expires_s});
    let refused = add(&alice, body(now_s() - 1)).await;
    assert_eq!(kind(refused), ProblemKind::InvalidSharing);
    let expires_s = now_s() + 2;
    let link = add(&alice, body(expires_s)).await.unwrap();
    let holder = world.holder(&link.token);
    let first = holder.reads().await;
    assert!(first.is_ok() || now_s() >= expires_s, "{first:?}");
    // Wait until the link expires.
    while now_s() < expires_s {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(kind(holder.reads().await), ProblemKind::InvalidLink);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_makes_up_a_link_learns_nothing() {
    let world = World::new().await;
    let absent = uuid::Uuid::new_v4();
    let mut told = Vec::new();
    for id in [world.id().to_string(), absent.to_string()] {
        let holder = world.holder(&format!("cellar-link.{id}.{}", secret(9)));
        for (method, end, body) in [
            (Method::GET, "/head", None),
            (Method::GET, "/details", None),
            (Method::PATCH, "/details", Some(json!({"name": "x"}))),
        ] {
            let response = holder.ask(method, &format!("/{id}{end}"), body).await;
            told.push((response.status(), response.text().await.unwrap()));
        }
        // A link gives no access to other spreadsheets.
        let other = holder.ask(Method::GET, &format!("/{}/head", uuid::Uuid::new_v4()), None).await;
        assert_eq!(other.status(), 404);
        let created = holder.ask(Method::POST, "", Some(json!({"nonce": "x"}))).await;
        assert_eq!(created.status(), 403);
    }
    let (there, nowhere) = told.split_at(3);
    assert_eq!(there, nowhere);
    for bad in ["cellar-link.", "cellar-link.x.y", &format!("cellar-link.{absent}.short")] {
        assert_eq!(kind(world.holder(bad).reads().await), ProblemKind::InvalidLink);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_shows_no_members() {
    let world = World::new().await;
    let alice = world.person("alice");
    alice.share("bob@example.com", "editor").await.unwrap();
    assert!(alice.details().await.unwrap().members.is_some());
    for role in ["viewer", "editor"] {
        let body = json!({"secret": secret(3), "role": role});
        let holder = add(&alice, body).await.unwrap();
        let holder = world.holder(&holder.token);
        let mut told = vec![holder.details().await.unwrap()];
        if role == "editor" {
            told.push(holder.update(json!({"name": "renamed"})).await.unwrap());
        }
        for details in told {
            assert_eq!((details.members, details.links), (None, None), "{role}");
        }
        let changes = holder.about(Method::GET, "/details/changes", None).await;
        assert_eq!(kind(answer::<Value>(changes).await), ProblemKind::Forbidden);
        for end in ["", "/entries?after=0", "/history", "/forks", "/head", "/stats", "/sheets"] {
            let text = holder.about(Method::GET, end, None).await.text().await.unwrap();
            assert!(!text.contains("bob@example.com"), "{end}: {text}");
        }
        let link = alice.details().await.unwrap().links.unwrap()[0].id.clone();
        alice.about(Method::DELETE, &format!("/links/{link}"), None).await;
    }
}
