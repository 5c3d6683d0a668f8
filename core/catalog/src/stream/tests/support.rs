//! A simple decider for tests: a list of words.

use std::sync::Arc;

use crate::stream::{
    Decider, Encoded, Etag, Kind, Payload, Proposal, SplitPolicy, StreamEvent, StreamName, Tip,
    Unfold, UnreadableEvent, WriterId,
};

/// Low thresholds, so that tips are split soon.
pub(crate) const SMALL: SplitPolicy = SplitPolicy { bytes: 32 * 1024, events: 3 };

pub(crate) fn name() -> StreamName {
    "Words-1".parse().unwrap()
}

pub(crate) fn event(writer: u8, word: &str) -> StreamEvent {
    StreamEvent {
        time_ms: 1_795_246_133_000,
        kind: Kind::new("Added").unwrap(),
        data: Payload::pack(word.as_bytes().to_vec()).unwrap(),
        meta: Payload::default(),
        correlation: None,
        causation: None,
        writer: WriterId([writer; 16]),
    }
}

pub(crate) fn unfold(index: u64, words: &str) -> Unfold {
    Unfold {
        index,
        time_ms: 1_795_246_133_000,
        kind: Kind::new("Words").unwrap(),
        data: Payload::pack(words.as_bytes().to_vec()).unwrap(),
        meta: Payload::default(),
    }
}

/// Returns a tip whose last event has the index `next - 1`.
pub(crate) fn tip(etag: u8, next: u64, events: Vec<StreamEvent>) -> Arc<Tip> {
    let (batch_bytes, appended, unfolds) = (0, 1, vec![]);
    let (name, etag) = (name(), Etag([etag; 16]));
    Arc::new(Tip { name, etag, next, batch_bytes, appended, events, unfolds })
}

pub(crate) fn proposal(on: Option<Arc<Tip>>, writer: u8, words: &[&str]) -> Proposal {
    let events = words.iter().map(|word| event(writer, word)).collect();
    Proposal { name: name(), base_tip: on, writer: WriterId([writer; 16]), events, unfolds: vec![] }
}

/// Decider of a list of words: `Added` adds a word, `Cleared` removes all words.
pub(crate) struct Words;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WordEvent {
    Added(String),
    Cleared,
}

impl Decider for Words {
    type State = Vec<String>;
    type Event = WordEvent;
    type Command = String;
    type Rejection = &'static str;

    fn initial(&self) -> Vec<String> {
        Vec::new()
    }

    fn evolve(&self, mut state: Vec<String>, event: &WordEvent) -> Vec<String> {
        match event {
            WordEvent::Added(word) => state.push(word.clone()),
            WordEvent::Cleared => state.clear(),
        }
        state
    }

    fn decide(
        &self,
        command: &String,
        state: &Vec<String>,
    ) -> Result<Vec<WordEvent>, &'static str> {
        match state.contains(command) {
            true => Err("the word is in the list"),
            false => Ok(vec![WordEvent::Added(command.clone())]),
        }
    }

    fn encode(&self, event: &WordEvent) -> Encoded {
        let (kind, data) = match event {
            WordEvent::Added(word) => ("Added", word.as_bytes().to_vec()),
            WordEvent::Cleared => ("Cleared", vec![]),
        };
        Encoded::new(Kind::new(kind).unwrap(), data)
    }

    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<WordEvent, UnreadableEvent> {
        let word = || String::from_utf8(data.to_vec()).map_err(|_| UnreadableEvent::Malformed);
        match kind.as_str() {
            "Added" => Ok(WordEvent::Added(word()?)),
            "Cleared" => Ok(WordEvent::Cleared),
            _ => Err(UnreadableEvent::UnknownKind),
        }
    }

    fn is_origin(&self, event: &WordEvent) -> bool {
        *event == WordEvent::Cleared
    }

    fn unfold(&self, state: &Vec<String>) -> Option<Encoded> {
        Some(Encoded::new(Kind::new("Words").unwrap(), state.join(" ").into_bytes()))
    }

    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Vec<String>> {
        let words = std::str::from_utf8(data).ok().filter(|_| kind.as_str() == "Words")?;
        Some(words.split_whitespace().map(str::to_owned).collect())
    }
}
