//! Tests of the rules of the catalog.

mod encoding;
mod links;
mod random;
mod sharing;
mod status;

use super::decide::decide;
use super::*;
use crate::access::Role;

const NOW_S: u64 = 1_000_000;

fn person(name: &str) -> Person {
    Person::new("cellar", name).unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// A listed spreadsheet and the current time.
struct Listed {
    listing: Option<Listing>,
    now_s: u64,
}

impl Listed {
    /// Creates a spreadsheet of Alice.
    fn by_alice() -> Self {
        let mut listed = Self { listing: None, now_s: NOW_S };
        listed.does("alice", CatalogAction::Create { name: name("Budget"), source: None }).unwrap();
        listed
    }

    /// Creates a spreadsheet of Alice with an editor, a viewer and another owner.
    fn shared() -> Self {
        let mut listed = Self::by_alice();
        for (with, role) in [("otto", Role::Owner), ("eve", Role::Editor), ("vera", Role::Viewer)] {
            listed.does("alice", share(with, role)).unwrap();
        }
        listed
    }

    /// Runs a command of a member. Returns the number of events.
    fn does(&mut self, member: &str, action: CatalogAction) -> Result<usize, Rejection> {
        let by = By { person: person(member), right: Right::Membership, cap: Role::Owner };
        self.command(&Command { by, action, now_s: self.now_s, seen: None })
    }

    fn command(&mut self, command: &Command) -> Result<usize, Rejection> {
        let events = decide(command, self.listing.as_ref())?;
        for event in &events {
            self.listing = event.apply(self.listing.take());
        }
        Ok(events.len())
    }

    fn now(&self) -> &Listing {
        self.listing.as_ref().unwrap()
    }

    fn role(&self, somebody: &str) -> Option<Role> {
        self.now().role_of(&person(somebody))
    }
}

fn share(with: &str, role: Role) -> CatalogAction {
    CatalogAction::Share { with: person(with), role }
}

fn unshare(from: &str) -> CatalogAction {
    CatalogAction::Unshare(person(from))
}

#[test]
fn each_action_requires_its_role() {
    let link = Link {
        hash: LinkSecret([1; 16]).hash(),
        role: LinkRole::Viewer,
        label: String::new(),
        expires_s: None,
    };
    for (action, needs) in [
        (CatalogAction::Create { name: name("Other"), source: None }, None),
        (CatalogAction::Rename(name("Other")), Some(Role::Editor)),
        (share("bob", Role::Viewer), Some(Role::Owner)),
        (unshare("otto"), Some(Role::Owner)),
        (CatalogAction::AddLink(link.clone()), Some(Role::Owner)),
        (CatalogAction::RemoveLink(link.hash.id()), Some(Role::Owner)),
        (CatalogAction::Archive, Some(Role::Owner)),
        (CatalogAction::Delete, Some(Role::Owner)),
        (CatalogAction::Activate, Some(Role::Owner)),
    ] {
        for (somebody, has) in
            [("alice", Role::Owner), ("eve", Role::Editor), ("vera", Role::Viewer)]
        {
            let done = Listed::shared().does(somebody, action.clone());
            match needs {
                Some(needs) if has < needs => {
                    assert_eq!(done, Err(Rejection::Role { has, needs }), "{action:?}");
                }
                _ => assert!(done.is_ok(), "{action:?}: {done:?}"),
            }
        }
        let stranger = Listed::shared().does("mallory", action.clone());
        let is_create = matches!(action, CatalogAction::Create { .. });
        assert_eq!(stranger, if is_create { Ok(0) } else { Err(Rejection::Hidden) }, "{action:?}");
    }
}

#[test]
fn a_token_limits_the_role_and_an_operator_needs_no_membership() {
    let mut listed = Listed::shared();
    let command = |name, right, cap| Command {
        by: By { person: person(name), right, cap },
        action: CatalogAction::Archive,
        now_s: NOW_S,
        seen: None,
    };
    let capped = command("alice", Right::Membership, Role::Editor);
    let refused = Err(Rejection::Role { has: Role::Editor, needs: Role::Owner });
    assert_eq!(listed.command(&capped), refused);
    let operator = command("operator", Right::Token(Role::Editor), Role::Editor);
    assert_eq!(listed.command(&operator), refused);
    let operator = command("operator", Right::Token(Role::Owner), Role::Owner);
    assert_eq!(listed.command(&operator), Ok(1));
}

#[test]
fn a_command_on_an_old_version_is_rejected() {
    let mut listed = Listed::by_alice();
    let rename = |text, seen| Command {
        by: By { person: person("alice"), right: Right::Membership, cap: Role::Owner },
        action: CatalogAction::Rename(name(text)),
        now_s: NOW_S,
        seen: Some(seen),
    };
    assert_eq!(listed.command(&rename("Plan", 0)), Err(Rejection::Changed));
    assert_eq!(listed.command(&rename("Plan", 1)), Ok(1));
    assert_eq!(listed.command(&rename("Plan", 1)), Ok(0), "a retry has no effect");
    assert_eq!(listed.command(&rename("Other", 1)), Err(Rejection::Changed));
    assert_eq!(listed.command(&rename("Other", 2)), Ok(1));
    assert_eq!(listed.now().changes, 3);
}

#[test]
fn repeated_renames_and_creates_have_no_effect() {
    let mut listed = Listed::shared();
    assert_eq!(listed.does("eve", CatalogAction::Rename(name("Plan"))), Ok(1));
    assert_eq!(listed.does("eve", CatalogAction::Rename(name("Plan"))), Ok(0));
    let again = CatalogAction::Create { name: name("Budget"), source: None };
    assert_eq!(listed.does("alice", again), Ok(0));
    assert_eq!(listed.now().name, name("Plan"));
}
