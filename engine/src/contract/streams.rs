//! The contract of the EventStream table.
#![allow(clippy::panic, reason = "a promise that is broken fails the test that calls this")]

use std::sync::Arc;

use cellar_base::limits::TIP_INDEX;
use cellar_catalog::stream::{
    CalvePolicy, InvalidEvent, Kind, Payload, Proposal, StreamEvent, StreamName, Tip, Unfold,
    Update, Write, WriterId,
};

use crate::ports::{StreamOutcome, Streams};

/// Few, so that tips calve soon.
const SMALL: CalvePolicy = CalvePolicy { bytes: usize::MAX, events: 2 };

/// Checks the EventStream table against everything that the engine relies on.
pub async fn streams<T: Streams>(streams: &T) {
    nothing_is_there_at_first(streams).await;
    a_first_tip_is_put_once(streams).await;
    an_update_is_conditional_and_returns_the_tip(streams).await;
    a_calf_and_its_tip_are_written_together_or_not_at_all(streams).await;
    calves_are_read_backwards_and_complete(streams).await;
    one_of_many_writers_wins(streams).await;
    names_are_apart(streams).await;
}

fn name(id: &str) -> StreamName {
    match StreamName::new("Contract", id) {
        Ok(name) => name,
        Err(error) => panic!("{error}"),
    }
}

fn kind(text: &str) -> Kind {
    let kind: Result<Kind, InvalidEvent> = Kind::new(text);
    kind.unwrap_or_else(|error| panic!("{error}"))
}

fn event(writer: WriterId, text: &str) -> StreamEvent {
    StreamEvent {
        time_ms: 1_795_246_133_000,
        kind: kind("Said"),
        data: Payload { encoding: 0, stored: text.as_bytes().to_vec() },
        meta: Payload { encoding: 1, stored: vec![0, 255] },
        correlation: Some("Grüße".to_owned()),
        causation: None,
        writer,
    }
}

/// What appends this text to a tip.
fn append(name: &StreamName, on: Option<&Arc<Tip>>, writer: u8, text: &str) -> Write {
    let next = on.map_or(0, |tip| tip.next);
    let unfold = Unfold {
        index: next + 1,
        time_ms: 1_795_246_133_000,
        kind: kind("State"),
        data: Payload { encoding: 0, stored: text.as_bytes().to_vec() },
        meta: Payload::default(),
    };
    let writer = WriterId([writer; 16]);
    let proposal = Proposal {
        name: name.clone(),
        on: on.cloned(),
        writer,
        events: vec![event(writer, text)],
        unfolds: vec![unfold],
    };
    proposal.write(SMALL).unwrap_or_else(|error| panic!("{error}"))
}

async fn write<T: Streams>(streams: &T, write: &Write) -> StreamOutcome {
    match write {
        Write::First(tip) => streams.put_first(tip).await,
        Write::Update(update) => streams.update(update).await,
        Write::Calve { calf, update } => streams.calve(calf, update).await,
    }
}

/// Appends so many events, and gives the tip.
async fn grown<T: Streams>(streams: &T, name: &StreamName, count: u8) -> Arc<Tip> {
    let mut tip: Option<Arc<Tip>> = None;
    for number in 0..count {
        let next = append(name, tip.as_ref(), number, &format!("event {number}"));
        assert_eq!(write(streams, &next).await, StreamOutcome::Done);
        tip = Some(Arc::new(next.tip().clone()));
        assert_stands(streams, name, tip.as_ref()).await;
    }
    tip.unwrap_or_else(|| panic!("no events"))
}

/// Asserts that a tip reads back as it was written, whole.
async fn assert_stands<T: Streams>(streams: &T, name: &StreamName, tip: Option<&Arc<Tip>>) {
    for consistent in [true, false] {
        assert_eq!(streams.tip(name, consistent).await, Ok(tip.cloned()));
    }
}

async fn nothing_is_there_at_first<T: Streams>(streams: &T) {
    let name = name("nothing");
    assert_stands(streams, &name, None).await;
    for consistent in [false, true] {
        assert_eq!(streams.calves_back(&name, TIP_INDEX, consistent).await, Ok(vec![]));
    }
    // Nothing is appended to a stream that is not there.
    let other = grown(streams, &self::name("something"), 1).await;
    let Write::Update(mut update) = append(&name, Some(&other), 1, "x") else { panic!() };
    update.tip.name = name.clone();
    assert_eq!(streams.update(&update).await, StreamOutcome::Refused { tip: None });
    assert_stands(streams, &name, None).await;
}

async fn a_first_tip_is_put_once<T: Streams>(streams: &T) {
    let name = name("first");
    let tip = grown(streams, &name, 1).await;
    let again = append(&name, None, 9, "another");
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&tip)) };
    assert_eq!(write(streams, &again).await, refused);
    // A repetition is refused by what it wrote.
    assert_eq!(streams.put_first(&tip).await, refused);
    assert_stands(streams, &name, Some(&tip)).await;
}

async fn an_update_is_conditional_and_returns_the_tip<T: Streams>(streams: &T) {
    let name = name("update");
    let first = grown(streams, &name, 1).await;
    let (won, lost) =
        (append(&name, Some(&first), 2, "won"), append(&name, Some(&first), 3, "lost"));
    assert_eq!(write(streams, &won).await, StreamOutcome::Done);
    let stands = Arc::new(won.tip().clone());
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&stands)) };
    assert_eq!(write(streams, &lost).await, refused);
    assert_eq!(write(streams, &won).await, refused);
    assert_stands(streams, &name, Some(&stands)).await;
}

async fn a_calf_and_its_tip_are_written_together_or_not_at_all<T: Streams>(streams: &T) {
    let name = name("calve");
    let full = grown(streams, &name, 2).await;
    let (won, lost) = (append(&name, Some(&full), 5, "won"), append(&name, Some(&full), 6, "lost"));
    let Write::Calve { calf, update } = &won else { panic!("{won:?}") };
    assert_eq!(streams.calve(calf, update).await, StreamOutcome::Done);
    let stands = Arc::new(update.tip.clone());
    assert_eq!((stands.events.len(), stands.unfolds.len(), stands.next), (1, 1, 3));
    assert!(stands.calved_bytes > 0);
    // Both conditions fail: the tip counts.
    let refused = StreamOutcome::Refused { tip: Some(Arc::clone(&stands)) };
    assert_eq!(write(streams, &lost).await, refused);
    assert_stands(streams, &name, Some(&stands)).await;
    // The tip's condition fails: the calf is not there either.
    let elsewhere = cellar_catalog::stream::Calf { index: 77, ..calf.clone() };
    let Write::Calve { update: late, .. } = &lost else { panic!("{lost:?}") };
    assert_eq!(streams.calve(&elsewhere, late).await, refused);
    // The calf's fails: the tip stays.
    let Write::Update(next) = append(&name, Some(&stands), 7, "next") else { panic!() };
    let emptied = Update { tip: Tip { events: next.appended.clone(), ..next.tip.clone() }, ..next };
    assert_eq!(streams.calve(calf, &emptied).await, StreamOutcome::CalfExists);
    assert_stands(streams, &name, Some(&stands)).await;
    assert_eq!(streams.calves_back(&name, TIP_INDEX, true).await, Ok(vec![calf.clone()]));
}

async fn calves_are_read_backwards_and_complete<T: Streams>(streams: &T) {
    let name = name("calves");
    let tip = grown(streams, &name, 13).await;
    assert_eq!((tip.first(), tip.next), (12, 13));
    for consistent in [false, true] {
        let (mut below, mut calves) = (tip.first(), Vec::new());
        while below > 0 {
            let page = streams.calves_back(&name, below, consistent).await;
            let page = page.unwrap_or_else(|error| panic!("{error}"));
            assert!(!page.is_empty());
            for calf in page {
                assert_eq!(calf.next(), below);
                below = calf.index;
                calves.push(calf);
            }
        }
        assert_eq!(calves.len(), 6);
        let texts = calves.iter().rev().flat_map(|calf| &calf.events);
        for (number, event) in texts.enumerate() {
            assert_eq!(event.data.stored, format!("event {number}").into_bytes());
        }
    }
}

async fn one_of_many_writers_wins<T: Streams>(streams: &T) {
    let name = name("many");
    let tip = grown(streams, &name, 1).await;
    let writes: Vec<_> = (10..16).map(|writer| append(&name, Some(&tip), writer, "x")).collect();
    let [a, b, c, d, e, f] = writes.as_slice() else { panic!() };
    let all = tokio::join!(
        write(streams, a),
        write(streams, b),
        write(streams, c),
        write(streams, d),
        write(streams, e),
        write(streams, f),
    );
    let outcomes = [all.0, all.1, all.2, all.3, all.4, all.5];
    let won = outcomes.iter().filter(|outcome| **outcome == StreamOutcome::Done).count();
    assert_eq!(won, 1, "{outcomes:?}");
    let stands = streams.tip(&name, true).await;
    assert!(stands.is_ok_and(|tip| tip.is_some_and(|tip| tip.next == 2)));
}

/// Neither a name that begins like another nor one that sorts beside it is in its way.
async fn names_are_apart<T: Streams>(streams: &T) {
    let (one, other) = (name("apart"), name("apart-too"));
    let tip = grown(streams, &one, 3).await;
    assert_stands(streams, &other, None).await;
    assert_eq!(streams.calves_back(&other, TIP_INDEX, true).await, Ok(vec![]));
    grown(streams, &other, 5).await;
    assert_stands(streams, &one, Some(&tip)).await;
    let calves = streams.calves_back(&one, TIP_INDEX, true).await;
    assert!(calves.is_ok_and(|calves| calves.iter().all(|calf| calf.name == one)));
}
