//! A small program with streams: a list of words.

use std::sync::Arc;

use crate::stream::{
    Decider, Encoded, Etag, Kind, Payload, Proposal, SplitPolicy, StreamEvent, StreamName, Tip,
    Unfold, UnreadableEvent, WriterId,
};

/// Few, so that tips split soon.
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

/// A tip whose last event has the index `next - 1`.
pub(crate) fn tip(etag: u8, next: u64, events: Vec<StreamEvent>) -> Arc<Tip> {
    let (batch_bytes, appended, unfolds) = (0, 1, vec![]);
    let (name, etag) = (name(), Etag([etag; 16]));
    Arc::new(Tip { name, etag, next, batch_bytes, appended, events, unfolds })
}

pub(crate) fn proposal(on: Option<Arc<Tip>>, writer: u8, words: &[&str]) -> Proposal {
    let events = words.iter().map(|word| event(writer, word)).collect();
    Proposal { name: name(), on, writer: WriterId([writer; 16]), events, unfolds: vec![] }
}

/// `Added` adds a word, `Cleared` clears them all.
pub(crate) struct Words;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Added(String),
    Cleared,
}

impl Decider for Words {
    type State = Vec<String>;
    type Event = Said;
    type Command = String;
    type Rejection = &'static str;

    fn initial(&self) -> Vec<String> {
        Vec::new()
    }

    fn evolve(&self, mut state: Vec<String>, event: &Said) -> Vec<String> {
        match event {
            Said::Added(word) => state.push(word.clone()),
            Said::Cleared => state.clear(),
        }
        state
    }

    fn decide(&self, command: &String, state: &Vec<String>) -> Result<Vec<Said>, &'static str> {
        match state.contains(command) {
            true => Err("it is there"),
            false => Ok(vec![Said::Added(command.clone())]),
        }
    }

    fn encode(&self, event: &Said) -> Encoded {
        let (kind, data) = match event {
            Said::Added(word) => ("Added", word.as_bytes().to_vec()),
            Said::Cleared => ("Cleared", vec![]),
        };
        Encoded::new(Kind::new(kind).unwrap(), data)
    }

    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<Said, UnreadableEvent> {
        let word = || String::from_utf8(data.to_vec()).map_err(|_| UnreadableEvent::Malformed);
        match kind.as_str() {
            "Added" => Ok(Said::Added(word()?)),
            "Cleared" => Ok(Said::Cleared),
            _ => Err(UnreadableEvent::UnknownKind),
        }
    }

    fn is_origin(&self, event: &Said) -> bool {
        *event == Said::Cleared
    }

    fn unfold(&self, state: &Vec<String>) -> Option<Encoded> {
        Some(Encoded::new(Kind::new("Words").unwrap(), state.join(" ").into_bytes()))
    }

    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Vec<String>> {
        let words = std::str::from_utf8(data).ok().filter(|_| kind.as_str() == "Words")?;
        Some(words.split_whitespace().map(str::to_owned).collect())
    }
}
