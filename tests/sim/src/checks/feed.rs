//! Checks of the catalog, the spreadsheet lists and the webhook's receiver after a run:
//! acknowledged changes exist, and the events of each stream arrived in order.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use cellar_api::wire::EventRange;
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_catalog::{
    spreadsheet::CatalogEvent, spreadsheet::Listing, spreadsheet::Person, spreadsheet::Right,
    spreadsheet::stream_of,
};
use cellar_engine::ports::Lists as _;
use cellar_engine::streams::StreamError;

use crate::actors::catalog::{logs, people};
use crate::fleet::catalog_of;
use crate::process::{Mortality, Process};
use crate::rare::RareEvent;
use crate::witness::Witness;
use crate::world::World;

/// Page size of a spreadsheet list: more than the number of spreadsheets.
const PAGE: u32 = 100;

/// The event stream of a spreadsheet, and the listing derived from it.
struct SpreadsheetState {
    log: LogId,
    listing: Option<Arc<Listing>>,
    events: Vec<CatalogEvent>,
}

/// Checks the final state of a run that changed the catalog.
pub(crate) async fn check(world: &Arc<World>, witness: &Witness) {
    let checker = Process::new(world, "checker", Mortality::Spared);
    for log in logs() {
        let spreadsheet = match read(&checker, log).await {
            Ok(spreadsheet) => spreadsheet,
            Err(error) => {
                world.report_violation(format_args!(
                    "the catalog entry of {log} cannot be read: {error}"
                ));
                continue;
            }
        };
        check_listing(world, &spreadsheet);
        check_acknowledged_changes(world, witness, &spreadsheet);
        for person in people() {
            check_list(world, &person, &spreadsheet).await;
        }
        check_received(world, &spreadsheet);
    }
}

async fn read(checker: &Process, log: LogId) -> Result<SpreadsheetState, StreamError> {
    let catalog = catalog_of(checker);
    let listing = catalog.read_listing(log, Right::Token(Role::Owner)).await?;
    let (mut events, mut below) = (Vec::new(), None);
    loop {
        let some = catalog.changes(log, below).await?;
        events.extend(some.events.into_iter().map(|event| event.event));
        below = some.below;
        if below.is_none() {
            events.reverse();
            return Ok(SpreadsheetState { log, listing, events });
        }
    }
}

/// Checks that the stored listing equals the listing derived from all events.
fn check_listing(world: &World, spreadsheet: &SpreadsheetState) {
    let folded = spreadsheet.events.iter().fold(None, |listing, event| event.apply(listing));
    if folded.as_ref() != spreadsheet.listing.as_deref() {
        let SpreadsheetState { log, listing, .. } = spreadsheet;
        world.report_violation(format_args!(
            "{log} has the listing {listing:?}, but its events give {folded:?}"
        ));
    }
}

/// Checks that every acknowledged change is in the stream. A change that was conditional on the
/// number of seen events must come directly after those, and only once.
fn check_acknowledged_changes(world: &World, witness: &Witness, spreadsheet: &SpreadsheetState) {
    let SpreadsheetState { log, events, .. } = spreadsheet;
    let seen = witness.seen();
    for change in seen.changes.iter().filter(|change| change.log == *log) {
        let first = change.seen.and_then(|seen| usize::try_from(seen).ok());
        for (event, offset) in change.events.iter().zip(0..) {
            let found = match first {
                Some(first) => events.get(first + offset) == Some(event),
                None => events.contains(event),
            };
            if !found {
                world.report_violation(format_args!(
                    "an acknowledged change of {log} is missing: {event:?}"
                ));
            }
        }
        let is_name = |event: &&CatalogEvent| matches!(event, CatalogEvent::Renamed { .. });
        for name in change.events.iter().filter(|event| first.is_some() && is_name(event)) {
            let times = events.iter().filter(|event| *event == name).count();
            if times > 1 {
                world.report_violation(format_args!(
                    "a change of {log} took effect {times} times: {name:?}"
                ));
            }
        }
    }
}

/// Checks that a person's list agrees with the listing.
async fn check_list(world: &World, person: &Person, spreadsheet: &SpreadsheetState) {
    let SpreadsheetState { log, listing, .. } = spreadsheet;
    let page = match world.index.listed(person, None, PAGE).await {
        Ok(page) => page,
        Err(error) => {
            return world
                .report_violation(format_args!("the list of {person} cannot be read: {error}"));
        }
    };
    let line = page.entries.iter().find(|entry| entry.log == *log);
    let line = line.and_then(|entry| entry.line.as_ref());
    let expected = listing.as_ref().and_then(|listing| listing.list_entry(*log, 0, person).line);
    if line != expected.as_ref() {
        let why = format_args!("{person}'s list has {line:?} for {log} instead of {expected:?}");
        world.report_violation(why);
    }
}

/// Checks that the receiver got all events of the newest generation of the feed, each generation in
/// order.
fn check_received(world: &World, spreadsheet: &SpreadsheetState) {
    let Ok(stream) = stream_of(spreadsheet.log) else { return };
    let stream = stream.to_string();
    let received = world.received.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next: BTreeMap<&str, usize> = BTreeMap::new();
    let mut newest = None;
    // Events that were dropped before the webhook's first call are before its start.
    let may_begin_later = world.rare.has(RareEvent::RecordExpired);
    for delivery in received.iter() {
        let Some(feed) = delivery.data.generation.as_deref() else {
            world.report_violation("a delivery has no generation");
            continue;
        };
        let is_first = newest.is_none_or(|newest| newest == feed) && next.len() <= 1;
        newest = (!next.contains_key(feed)).then_some(feed).or(newest);
        let expected = next.entry(feed).or_default();
        for item in &delivery.data.items {
            for span in item.spans.iter().filter(|span| span.stream == stream) {
                if *expected == 0 && is_first && may_begin_later {
                    *expected = usize::try_from(span.first).unwrap_or(usize::MAX);
                }
                *expected = check_span(world, spreadsheet, span, *expected);
            }
        }
    }
    let had = newest.and_then(|feed| next.get(feed)).copied().unwrap_or_default();
    if had != spreadsheet.events.len() {
        let there = spreadsheet.events.len();
        world
            .report_violation(format_args!("the receiver got {had} of {there} events of {stream}"));
    }
}

/// Checks one delivered span; returns the number of events delivered so far.
fn check_span(
    world: &World,
    spreadsheet: &SpreadsheetState,
    span: &EventRange,
    expected: usize,
) -> usize {
    let first = usize::try_from(span.first).unwrap_or(usize::MAX);
    if first > expected {
        world.report_violation(format_args!(
            "the receiver got {expected} events, and then {span:?}"
        ));
    }
    let there = spreadsheet.events.iter().skip(first).map(CatalogEvent::kind);
    if !there.take(span.kinds.len()).eq(span.kinds.iter().map(String::as_str)) {
        world.report_violation(format_args!("the receiver got events that do not exist: {span:?}"));
    }
    expected.max(first.saturating_add(span.kinds.len()))
}
