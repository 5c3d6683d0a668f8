//! Property tests of the rules of the catalog with random commands.

use proptest::prelude::*;

use super::*;
use crate::stream::Decider as _;

const NAMES: [&str; 4] = ["alice", "otto", "eve", "vera"];

fn somebody() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&NAMES[..])
}

fn role() -> impl Strategy<Value = Role> {
    proptest::sample::select(&[Role::Viewer, Role::Editor, Role::Owner][..])
}

fn link() -> impl Strategy<Value = Link> {
    (0..3_u8, any::<bool>(), proptest::option::of(NOW_S..NOW_S + 40)).prop_map(
        |(secret, edits, expires_s)| Link {
            hash: LinkSecret([secret; 16]).hash(),
            role: if edits { LinkRole::Editor } else { LinkRole::Viewer },
            label: String::new(),
            expires_s,
        },
    )
}

fn action() -> impl Strategy<Value = CatalogAction> {
    prop_oneof![
        Just(CatalogAction::Create { name: name("Again"), source: None }),
        (0..3_u8).prop_map(|number| CatalogAction::Rename(name(&format!("Name {number}")))),
        (somebody(), role()).prop_map(|(with, role)| share(with, role)),
        (somebody(), role()).prop_map(|(with, role)| share(with, role)),
        somebody().prop_map(unshare),
        link().prop_map(CatalogAction::AddLink),
        link().prop_map(|link| CatalogAction::RemoveLink(link.hash.id())),
        Just(CatalogAction::Archive),
        Just(CatalogAction::Delete),
        Just(CatalogAction::Activate),
    ]
}

fn right() -> impl Strategy<Value = Right> {
    prop_oneof![
        4 => Just(Right::Membership),
        1 => role().prop_map(Right::Token),
        1 => link().prop_map(|link| Right::Link(link.hash)),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    (somebody(), right(), role(), action(), 0..40_u64).prop_map(
        |(name, right, cap, action, later_s)| Command {
            by: By { person: person(name), right, cap },
            action,
            now_s: NOW_S + later_s,
            seen: None,
        },
    )
}

proptest! {
    /// There is always an owner, no person is a member twice, repeated commands have no effect,
    /// roles are enforced, and events and unfolds reproduce the listing.
    #[test]
    fn the_rules_hold_after_any_commands(commands in proptest::collection::vec(command(), 1..40)) {
        let mut listed = Listed::by_alice();
        for command in commands {
            let before = listed.listing.clone();
            let role = command.by.role(before.as_ref(), command.now_s);
            let Ok(events) = decide(&command, before.as_ref()) else { continue };
            let changed = listed.command(&command).unwrap();
            prop_assert_eq!(changed, events.len());
            let is_leaving = command.action == CatalogAction::Unshare(command.by.person.clone());
            if changed > 0 && !is_leaving {
                prop_assert!(role >= Some(Role::Editor), "{:?} by {:?}", command, role);
                let renames = matches!(command.action, CatalogAction::Rename(_));
                prop_assert!(renames || role == Some(Role::Owner), "{:?} by {:?}", command, role);
            }
            let listing = listed.now();
            prop_assert!(listing.owner_count() > 0);
            let mut people: Vec<_> = listing.members.iter().map(|it| &it.person).collect();
            people.sort();
            let count = people.len();
            people.dedup();
            prop_assert_eq!(people.len(), count);
            // A repeated command has no effect.
            if command.by.role(listed.listing.as_ref(), command.now_s) == role {
                prop_assert_eq!(decide(&command, listed.listing.as_ref()), Ok(vec![]));
            }
            let read = events.iter().fold(before, |state, event| {
                let encoded = Catalog.encode(event);
                Catalog.evolve(state, &Catalog.decode(&encoded.kind, &encoded.data).unwrap())
            });
            prop_assert_eq!(&read, &listed.listing);
            let kept = Catalog.unfold(&read).unwrap();
            prop_assert_eq!(Catalog.refold(&kept.kind, &kept.data), Some(read));
        }
    }
}
