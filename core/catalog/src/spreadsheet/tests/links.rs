//! Tests of share links.

use super::*;
use cellar_base::limits::MAX_LINKS;

fn link(number: usize, expires_s: Option<u64>) -> Link {
    let mut secret = [0; 16];
    secret[..8].copy_from_slice(&number.to_le_bytes());
    let hash = LinkSecret(secret).hash();
    Link { hash, role: LinkRole::Editor, label: format!("link {number}"), expires_s }
}

#[test]
fn a_link_grants_access_until_it_is_revoked() {
    let mut listed = Listed::by_alice();
    let own = link(1, None);
    assert_eq!(listed.does("alice", CatalogAction::AddLink(own.clone())), Ok(1));
    assert_eq!(listed.does("alice", CatalogAction::AddLink(own.clone())), Ok(0));
    let by = |right| By { person: person("link"), right, cap: Role::Owner };
    let role = |listed: &Listed, number| {
        by(Right::Link(link(number, None).hash)).role(listed.listing.as_ref(), NOW_S)
    };
    assert_eq!((role(&listed, 1), role(&listed, 2)), (Some(Role::Editor), None));
    assert_eq!(listed.does("alice", CatalogAction::RemoveLink(own.hash.id())), Ok(1));
    assert_eq!(listed.does("alice", CatalogAction::RemoveLink(own.hash.id())), Ok(0));
    assert_eq!(role(&listed, 1), None);
}

#[test]
fn holders_of_a_link_cannot_share() {
    let mut listed = Listed::by_alice();
    let own = link(1, Some(NOW_S + 5));
    listed.does("alice", CatalogAction::AddLink(own.clone())).unwrap();
    let command = |action, now_s| Command {
        by: By { person: person("link"), right: Right::Link(own.hash), cap: Role::Owner },
        action,
        now_s,
        seen: None,
    };
    let rename = CatalogAction::Rename(name("Theirs"));
    assert_eq!(listed.command(&command(rename.clone(), NOW_S + 4)), Ok(1));
    assert_eq!(listed.command(&command(rename, NOW_S + 5)), Err(Rejection::Hidden));
    let refused = listed.command(&command(share("bob", Role::Viewer), NOW_S));
    assert_eq!(refused, Err(Rejection::Role { has: Role::Editor, needs: Role::Owner }));
}

#[test]
fn rejects_a_link_that_has_already_expired() {
    let mut listed = Listed::by_alice();
    let ended = CatalogAction::AddLink(link(1, Some(NOW_S)));
    assert_eq!(listed.does("alice", ended), Err(Rejection::LinkEnded));
    assert_eq!(listed.does("alice", CatalogAction::AddLink(link(1, Some(NOW_S + 1)))), Ok(1));
    // A retry after the expiry has no effect.
    listed.now_s += 1;
    assert_eq!(listed.does("alice", CatalogAction::AddLink(link(1, Some(NOW_S + 1)))), Ok(0));
}

#[test]
fn limits_the_links_of_a_spreadsheet() {
    let mut listed = Listed::by_alice();
    for number in 1..MAX_LINKS {
        assert_eq!(listed.does("alice", CatalogAction::AddLink(link(number, None))), Ok(1));
    }
    let short = link(MAX_LINKS, Some(NOW_S + 1));
    assert_eq!(listed.does("alice", CatalogAction::AddLink(short)), Ok(1));
    let one_more = CatalogAction::AddLink(link(MAX_LINKS + 1, None));
    assert_eq!(listed.does("alice", one_more.clone()), Err(Rejection::Links));
    // An expired link is removed for a new link.
    listed.now_s += 1;
    assert_eq!(listed.does("alice", one_more), Ok(2));
    assert_eq!(listed.now().links.len(), MAX_LINKS);
}
