//! Checks the catalog, the spreadsheet lists and the webhook's receiver after a run: acknowledged
//! changes exist, and the events of each stream arrived in order.

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

/// Page size of a spreadsheet list. Exceeds the number of spreadsheets.
const PAGE: u32 = 100;

/// A spreadsheet's event stream, and the listing (catalog state) derived from the events.
struct SpreadsheetState {
    log: LogId,
    listing: Option<Arc<Listing>>,
    events: Vec<CatalogEvent>,
}

/// Checks the final state of a run in which the catalog was changed.
pub(crate) async fn check(world: &Arc<World>, witness: &Witness) {
    let checker = Process::new(world, "checker", Mortality::Spared);
    for log in logs() {
        let spreadsheet = match read_spreadsheet(&checker, log).await {
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

async fn read_spreadsheet(checker: &Process, log: LogId) -> Result<SpreadsheetState, StreamError> {
    let catalog = catalog_of(checker);
    let listing = catalog.read_listing(log, Right::Token(Role::Owner)).await?;
    let mut events_newest_first = Vec::new();
    let mut cursor = None;
    loop {
        let page = catalog.changes(log, cursor).await?;
        events_newest_first.extend(page.events.into_iter().map(|dated| dated.event));
        cursor = page.below;
        if cursor.is_none() {
            break;
        }
    }
    let events = events_newest_first.into_iter().rev().collect();
    Ok(SpreadsheetState { log, listing, events })
}

/// Checks that the stored listing equals the listing derived from all events.
fn check_listing(world: &World, spreadsheet: &SpreadsheetState) {
    let SpreadsheetState { log, listing, events } = spreadsheet;
    let folded_listing = events.iter().fold(None, |listing, event| event.apply(listing));
    if folded_listing.as_ref() != listing.as_deref() {
        world.report_violation(format_args!(
            "{log} has the listing {listing:?}, but its events give {folded_listing:?}"
        ));
    }
}

/// Checks that the stream contains every acknowledged change. A change that was conditional on the
/// number of seen events must directly follow the seen events and occur only once.
fn check_acknowledged_changes(world: &World, witness: &Witness, spreadsheet: &SpreadsheetState) {
    let SpreadsheetState { log, events, .. } = spreadsheet;
    let seen = witness.seen();
    for change in seen.changes.iter().filter(|change| change.log == *log) {
        let first_index = change.seen.and_then(|version| usize::try_from(version).ok());
        for (offset, event) in change.events.iter().enumerate() {
            let is_stored = match first_index {
                Some(first_index) => events.get(first_index + offset) == Some(event),
                None => events.contains(event),
            };
            if !is_stored {
                world.report_violation(format_args!(
                    "an acknowledged change of {log} is missing: {event:?}"
                ));
            }
            let is_conditional_rename =
                first_index.is_some() && matches!(event, CatalogEvent::Renamed { .. });
            let times = events.iter().filter(|stored_event| *stored_event == event).count();
            if is_conditional_rename && times > 1 {
                world.report_violation(format_args!(
                    "a change of {log} took effect {times} times: {event:?}"
                ));
            }
        }
    }
}

/// Checks that a user's spreadsheet list matches the catalog.
async fn check_list(world: &World, person: &Person, spreadsheet: &SpreadsheetState) {
    let SpreadsheetState { log, listing, .. } = spreadsheet;
    let page = match world.index.listed(person, None, PAGE).await {
        Ok(page) => page,
        Err(error) => {
            return world
                .report_violation(format_args!("the list of {person} cannot be read: {error}"));
        }
    };
    let list_entry = page.entries.iter().find(|entry| entry.log == *log);
    let listed_line = list_entry.and_then(|entry| entry.line.as_ref());
    let expected_line =
        listing.as_ref().and_then(|listing| listing.list_entry(*log, 0, person).line);
    if listed_line != expected_line.as_ref() {
        world.report_violation(format_args!(
            "{person}'s list has {listed_line:?} for {log} instead of {expected_line:?}"
        ));
    }
}

/// Checks that the receiver got all events of the feed's newest generation, and that the events of
/// each generation arrived in order.
fn check_received(world: &World, spreadsheet: &SpreadsheetState) {
    let Ok(stream) = stream_of(spreadsheet.log) else { return };
    let stream = stream.to_string();
    let deliveries = world.received.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next_index_by_feed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut newest_feed = None;
    // Events that were dropped before the webhook's first call precede its starting point.
    let may_begin_later = world.rare.has(RareEvent::RecordExpired);
    for delivery in deliveries.iter() {
        let Some(feed) = delivery.data.generation.as_deref() else {
            world.report_violation("a delivery has no generation");
            continue;
        };
        let is_first_feed = newest_feed.is_none_or(|newest_feed| newest_feed == feed)
            && next_index_by_feed.len() <= 1;
        if !next_index_by_feed.contains_key(feed) {
            newest_feed = Some(feed);
        }
        let next_index = next_index_by_feed.entry(feed).or_default();
        let spans = delivery.data.items.iter().flat_map(|item| &item.spans);
        for span in spans.filter(|span| span.stream == stream) {
            if *next_index == 0 && is_first_feed && may_begin_later {
                *next_index = usize::try_from(span.first).unwrap_or(usize::MAX);
            }
            *next_index = check_span(world, spreadsheet, span, *next_index);
        }
    }
    let received_count =
        newest_feed.and_then(|feed| next_index_by_feed.get(feed)).copied().unwrap_or_default();
    let event_count = spreadsheet.events.len();
    if received_count != event_count {
        world.report_violation(format_args!(
            "the receiver got {received_count} of {event_count} events of {stream}"
        ));
    }
}

/// Checks one span of delivered events. Returns the number of events delivered so far.
fn check_span(
    world: &World,
    spreadsheet: &SpreadsheetState,
    span: &EventRange,
    expected_index: usize,
) -> usize {
    let first_index = usize::try_from(span.first).unwrap_or(usize::MAX);
    if first_index > expected_index {
        world.report_violation(format_args!(
            "the receiver got {expected_index} events, and then {span:?}"
        ));
    }
    let stored_kinds = spreadsheet.events.iter().skip(first_index).map(CatalogEvent::kind);
    let received_kinds = span.kinds.iter().map(String::as_str);
    if !stored_kinds.take(span.kinds.len()).eq(received_kinds) {
        world.report_violation(format_args!("the receiver got events that do not exist: {span:?}"));
    }
    expected_index.max(first_index.saturating_add(span.kinds.len()))
}
