//! Rules for the event streams of spreadsheets. Events and cached states are encoded as JSON.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::command::{Command, Rejection};
use super::decide::decide;
use super::event::CatalogEvent;
use super::listing::Listing;
use crate::stream::{Decider, Encoded, Kind, UnreadableEvent};

/// The name under which the state of a spreadsheet is cached in its event stream. The number in the
/// name must be changed whenever the encoding of the state changes.
const LISTING_KIND: &str = "Listing1";

/// The rules for event streams of the category [`CATEGORY`](super::CATEGORY).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Catalog;

impl Decider for Catalog {
    type State = Option<Listing>;
    type Event = CatalogEvent;
    type Command = Command;
    type Rejection = Rejection;

    fn initial(&self) -> Option<Listing> {
        None
    }

    fn evolve(&self, state: Option<Listing>, event: &CatalogEvent) -> Option<Listing> {
        event.apply(state)
    }

    fn decide(
        &self,
        command: &Command,
        state: &Option<Listing>,
    ) -> Result<Vec<CatalogEvent>, Rejection> {
        decide(command, state.as_ref())
    }

    fn encode(&self, event: &CatalogEvent) -> Encoded {
        // Serde encodes an event as `{"Created": {…}}`, where the key is the event kind.
        let tagged = serde_json::to_value(event).unwrap_or_default();
        let data = tagged.get(event.kind()).map(Value::to_string).unwrap_or_default();
        Encoded::new(Kind::own(event.kind()), data.into_bytes())
    }

    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<CatalogEvent, UnreadableEvent> {
        let data: Value = from_json(data).ok_or(UnreadableEvent::Malformed)?;
        let tagged = Value::Object(Map::from_iter([(kind.as_str().to_owned(), data)]));
        serde_json::from_value(tagged).map_err(|_| {
            let is_known = CatalogEvent::KINDS.contains(&kind.as_str());
            if is_known { UnreadableEvent::Malformed } else { UnreadableEvent::UnknownKind }
        })
    }

    fn is_origin(&self, event: &CatalogEvent) -> bool {
        matches!(event, CatalogEvent::Created { .. })
    }

    fn unfold(&self, state: &Option<Listing>) -> Option<Encoded> {
        let data = serde_json::to_vec(state.as_ref()?).ok()?;
        Some(Encoded::new(Kind::own(LISTING_KIND), data))
    }

    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Option<Listing>> {
        if kind.as_str() != LISTING_KIND {
            return None;
        }
        from_json(data).map(Some)
    }
}

fn from_json<T: DeserializeOwned>(data: &[u8]) -> Option<T> {
    serde_json::from_slice(data).ok()
}
