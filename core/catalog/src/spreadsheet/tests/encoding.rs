//! Tests of the encoding of events and listings, on which readers of the feed depend.

use super::*;
use crate::stream::{Decider as _, Kind, UnreadableEvent};
use cellar_base::identity::LogId;

fn events() -> Vec<(CatalogEvent, &'static str)> {
    let by = || person("alice");
    let source = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
    let hash = LinkSecret([1; 16]).hash();
    let link = Link { hash, role: LinkRole::Viewer, label: "press".to_owned(), expires_s: Some(9) };
    let member = Member { person: person("bob"), role: Role::Editor };
    vec![
        (
            CatalogEvent::Created { by: by(), name: name("Budget"), source: None, at_s: 5 },
            r#"{"at_s":5,"by":{"issuer":"cellar","subject":"alice"},"name":"Budget"}"#,
        ),
        (
            CatalogEvent::Created {
                by: by(),
                name: Name::default(),
                source: Some(source),
                at_s: 5,
            },
            r#"{"at_s":5,"by":{"issuer":"cellar","subject":"alice"},"name":"","source":"07070707-0707-0707-0707-070707070707"}"#,
        ),
        (
            CatalogEvent::Renamed { by: by(), name: name("Plan") },
            r#"{"by":{"issuer":"cellar","subject":"alice"},"name":"Plan"}"#,
        ),
        (
            CatalogEvent::Shared { by: by(), with: Grantee::Member(member) },
            r#"{"by":{"issuer":"cellar","subject":"alice"},"with":{"member":{"person":{"issuer":"cellar","subject":"bob"},"role":"editor"}}}"#,
        ),
        (
            CatalogEvent::Shared { by: by(), with: Grantee::Link(link) },
            r#"{"by":{"issuer":"cellar","subject":"alice"},"with":{"link":{"expires_s":9,"hash":"0de57f16496492969e7be5ca7a355ebb","label":"press","role":"viewer"}}}"#,
        ),
        (
            CatalogEvent::Unshared { by: by(), from: Recipient::Member(person("bob")) },
            r#"{"by":{"issuer":"cellar","subject":"alice"},"from":{"member":{"issuer":"cellar","subject":"bob"}}}"#,
        ),
        (
            CatalogEvent::Unshared { by: by(), from: Recipient::Link(hash) },
            r#"{"by":{"issuer":"cellar","subject":"alice"},"from":{"link":"0de57f16496492969e7be5ca7a355ebb"}}"#,
        ),
        (
            CatalogEvent::Archived { by: by(), at_s: 6 },
            r#"{"at_s":6,"by":{"issuer":"cellar","subject":"alice"}}"#,
        ),
        (CatalogEvent::Unarchived { by: by() }, r#"{"by":{"issuer":"cellar","subject":"alice"}}"#),
        (
            CatalogEvent::Deleted { by: by(), at_s: 6 },
            r#"{"at_s":6,"by":{"issuer":"cellar","subject":"alice"}}"#,
        ),
        (CatalogEvent::Undeleted { by: by() }, r#"{"by":{"issuer":"cellar","subject":"alice"}}"#),
        (
            CatalogEvent::Purged { by: by(), at_s: 7 },
            r#"{"at_s":7,"by":{"issuer":"cellar","subject":"alice"}}"#,
        ),
    ]
}

#[test]
fn the_encoding_of_events_is_stable() {
    let mut kinds = Vec::new();
    for (event, json) in events() {
        let encoded = Catalog.encode(&event);
        let said = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        assert_eq!(said(&encoded.data), said(json.as_bytes()));
        assert_eq!(Kind::new(event.kind()).as_ref(), Ok(&encoded.kind));
        assert_eq!(Catalog.decode(&encoded.kind, &encoded.data), Ok(event));
        kinds.push(encoded.kind.as_str().to_owned());
    }
    kinds.dedup();
    assert_eq!(kinds, CatalogEvent::KINDS);
}

#[test]
fn ignores_unknown_fields_and_rejects_invalid_events() {
    let kind = |name| Kind::new(name).unwrap();
    let more = br#"{"by":{"issuer":"cellar","subject":"alice"},"why":"lost"}"#;
    assert!(matches!(Catalog.decode(&kind("Undeleted"), more), Ok(CatalogEvent::Undeleted { .. })));
    for (name, data, why) in [
        ("Moved", &br#"{"by":{"issuer":"a","subject":"b"}}"#[..], UnreadableEvent::UnknownKind),
        ("Undeleted", b"{}", UnreadableEvent::Malformed),
        ("Undeleted", b"", UnreadableEvent::Malformed),
        ("Undeleted", b"\xff", UnreadableEvent::Malformed),
        ("Undeleted", "[".repeat(10_000).as_bytes(), UnreadableEvent::Malformed),
    ] {
        assert_eq!(Catalog.decode(&kind(name), data), Err(why), "{name}");
    }
}

#[test]
fn listings_round_trip_and_other_unfolds_are_ignored() {
    let mut listed = Listed::shared();
    listed.does("alice", CatalogAction::Archive).unwrap();
    let kept = Catalog.unfold(&listed.listing).unwrap();
    assert_eq!(Catalog.refold(&kept.kind, &kept.data), Some(listed.listing));
    assert_eq!(Catalog.refold(&Kind::new("Listing2").unwrap(), &kept.data), None);
    assert_eq!(Catalog.refold(&kept.kind, b"{}"), None);
    assert_eq!(Catalog.unfold(&None), None);
}
