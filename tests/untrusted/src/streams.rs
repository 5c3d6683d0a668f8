//! Stored events and unfolds of catalog streams.

use cellar_base::identity::{LogId, SubjectKey};
use cellar_catalog::access::{Need, Principal, Role, Scope};
use cellar_catalog::records::stream::{decode_tip, encode_tip};
use cellar_catalog::stream::{
    Decider as _, Etag, Kind, Payload, Rebuild, RebuildStep, StreamEvent, Tip, Unfold, WriterId,
};
use cellar_catalog::{spreadsheet::Catalog, spreadsheet::Listing, spreadsheet::stream_of};

use crate::parts::split;

/// Maximum events and unfolds of one input.
const MAX_PARTS: usize = 64;
const TIME_MS: u64 = 1_795_246_133_000;

/// Reads the tip of a spreadsheet's stream. Each event is a part: `e`, `0` for plain or `1` for
/// compressed data, the kind, a line end, and the data. An unfold has `u` instead, and a digit
/// before the kind for its index. A readable tip must derive the same listing from its unfold, and
/// access decisions must not panic.
pub(super) fn tip(bytes: &[u8]) -> bool {
    let Some(tip) = parsed(bytes) else { return false };
    assert_eq!(decode_tip(&encode_tip(&tip)).as_ref(), Ok(&tip));
    // An unfold is trusted and may contain anything; only its decoding is tested.
    let _ = rebuilt(&tip).map(|listing| decided(listing.as_ref()));
    let Some(listing) = rebuilt(&Tip { unfolds: vec![], ..tip }) else { return false };
    decided(listing.as_ref());
    let Some(kept) = Catalog.unfold(&listing) else { return false };
    assert_eq!(Catalog.refold(&kept.kind, &kept.data), Some(listing));
    true
}

fn parsed(bytes: &[u8]) -> Option<Tip> {
    let (mut events, mut unfolds) = (Vec::new(), Vec::new());
    for part in split(bytes).into_iter().take(MAX_PARTS) {
        let (what, rest) = part.split_first()?;
        let (encoding, rest) = rest.split_first()?;
        let encoding = u64::from(encoding.wrapping_sub(b'0'));
        let (kind, data) = rest.split_at(rest.iter().position(|byte| *byte == b'\n')?);
        let kind = std::str::from_utf8(kind).ok()?;
        let data = Payload { encoding, stored: data.get(1..)?.to_vec() };
        match what {
            b'e' => events.push(event(Kind::new(kind).ok()?, data)),
            b'u' => {
                let index = u64::from(kind.bytes().next()?.wrapping_sub(b'0'));
                unfolds.push(unfold(index, Kind::new(kind.get(1..)?).ok()?, data));
            }
            _ => return None,
        }
    }
    let next = u64::try_from(events.len()).ok().filter(|next| *next > 0)?;
    let (etag, name) = (Etag([7; 16]), stream_of(log()).ok()?);
    Some(Tip { name, etag, next, batch_bytes: 0, appended: 1, events, unfolds })
}

fn event(kind: Kind, data: Payload) -> StreamEvent {
    StreamEvent {
        time_ms: TIME_MS,
        kind,
        data,
        meta: Payload::default(),
        correlation: None,
        causation: None,
        writer: WriterId([1; 16]),
    }
}

fn unfold(index: u64, kind: Kind, data: Payload) -> Unfold {
    Unfold { index, time_ms: TIME_MS, kind, data, meta: Payload::default() }
}

fn log() -> LogId {
    LogId::derive(&SubjectKey::new("cellar", "alice"), "stream").unwrap()
}

/// Derives the listing from the tip, if it is readable. The tip must contain all events.
fn rebuilt(tip: &Tip) -> Option<Option<Listing>> {
    match Rebuild::begin(&Catalog, Some(tip)).ok()? {
        RebuildStep::Complete(rebuilt) => {
            assert_eq!(rebuilt.next, tip.next);
            Some(rebuilt.state)
        }
        RebuildStep::ReadBatches { .. } => panic!("all events are there"),
    }
}

/// Makes access decisions for all named people, and for a stranger.
fn decided(listing: Option<&Listing>) {
    let members = listing.iter().flat_map(|listing| &listing.members);
    let people =
        members.map(|member| (member.person.issuer.clone(), member.person.subject.clone()));
    for (issuer, author) in people.chain([("cellar".to_owned(), "stranger".to_owned())]) {
        let subject = SubjectKey::new(&issuer, &author);
        let (scope, role) = (Scope::Shared, Role::Owner);
        let principal = Principal { subject, author, issuer, scope, role };
        for need in [Need::Read, Need::Write] {
            for now_s in [0, u64::MAX] {
                let _ = principal.access(log(), listing, need, now_s);
            }
        }
    }
}
