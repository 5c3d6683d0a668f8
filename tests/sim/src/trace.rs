//! The trace of a run, with one line per event in the order of the events.

use std::fmt::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parameters of 64-bit FNV-1a. The hash is used only to compare runs, so it does not have to be
/// cryptographic.
const HASH_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The events of a run. Their hash is always computed, whereas their text is kept only on request.
#[derive(Debug)]
pub struct Trace {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    hash: u64,
    events: u64,
    lines: Option<Vec<String>>,
}

/// A writer that adds all written text to a hash.
struct Hashing<'a>(&'a mut u64);

impl fmt::Write for Hashing<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            *self.0 = (*self.0 ^ u64::from(byte)).wrapping_mul(HASH_PRIME);
        }
        Ok(())
    }
}

impl Trace {
    /// Creates an empty trace. `keep_text` determines whether its lines are kept.
    #[must_use]
    pub fn new(keep_text: bool) -> Self {
        let lines = keep_text.then(Vec::new);
        Self { state: Mutex::new(State { hash: HASH_BASIS, events: 0, lines }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event, which consists of the time in milliseconds since the start of the run, the
    /// actor, and a description.
    pub fn event(&self, at_ms: u64, whose: &str, what: fmt::Arguments<'_>) {
        let mut state = self.lock();
        state.events += 1;
        let mut hashing = Hashing(&mut state.hash);
        // Writing to the hasher never fails.
        let _ = writeln!(hashing, "{at_ms} {whose} {what}");
        if let Some(lines) = &mut state.lines {
            let (seconds, millis) = (at_ms / 1_000, at_ms % 1_000);
            lines.push(format!("{seconds:>8}.{millis:03} {whose:<12} {what}"));
        }
    }

    /// Returns the hash of all events so far.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.lock().hash
    }

    /// Returns the number of events.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.lock().events
    }

    /// Takes the lines out of the trace.
    #[must_use]
    pub fn take_lines(&self) -> Vec<String> {
        self.lock().lines.take().unwrap_or_default()
    }
}
