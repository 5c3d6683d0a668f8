//! Being told at once that a spreadsheet has grown, where that is offered: a hint, beside polling.

use std::future::pending;

use cellar_api::wire::Poke;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use reqwest::{Method, Response};

use super::transport::Opened;
use super::{Client, spreadsheet};

/// Bytes of an event, which are far fewer, and of what else may come before its end.
const MAX_EVENT_BYTES: usize = 4 * 1024;

/// Follows one spreadsheet. In AWS nobody is poked: then it never has news, and
/// whoever waits for it polls, as he does while the connection is lost.
#[derive(Debug)]
pub struct Pokes {
    client: Client,
    spreadsheet: LogId,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Not connected.
    Idle,
    /// Connected, with what came behind the last event.
    Open(Response, Vec<u8>),
    /// Nobody is poked here.
    Never,
}

impl Client {
    /// Follows a spreadsheet. Nothing is asked before somebody waits.
    #[must_use]
    pub fn pokes(&self, id: LogId) -> Pokes {
        Pokes { client: self.clone(), spreadsheet: id, state: State::Idle }
    }
}

impl Pokes {
    /// Waits until the spreadsheet has grown beyond `known`. May wait for ever: it is to be waited for
    /// beside the next poll, and may be given up at any moment.
    pub async fn beyond(&mut self, known: Position) -> Position {
        loop {
            match &mut self.state {
                State::Never => pending::<()>().await,
                State::Idle => self.connect().await,
                State::Open(response, bytes) => {
                    if let Some(poke) = next_event(bytes) {
                        if poke.head > known {
                            return poke.head;
                        }
                        continue;
                    }
                    match response.chunk().await {
                        Ok(Some(chunk)) if bytes.len() + chunk.len() <= MAX_EVENT_BYTES => {
                            bytes.extend_from_slice(&chunk);
                        }
                        // Who does not keep to what was agreed is not asked again.
                        Ok(Some(_)) => self.state = State::Never,
                        // It ends now and then. Once for each poll is often enough to begin anew,
                        // whoever cuts it.
                        Ok(None) | Err(_) => {
                            self.state = State::Idle;
                            pending::<()>().await;
                        }
                    }
                }
            }
        }
    }

    async fn connect(&mut self) {
        let call = spreadsheet(Method::GET, self.spreadsheet, Some("pokes"));
        match self.client.transport.open(call).await {
            Opened::Answered(response) => self.state = State::Open(response, Vec::new()),
            Opened::Refused => self.state = State::Never,
            Opened::Failed => pending().await,
        }
    }
}

/// Takes the next whole event, and all before it: an event ends with a blank line, and comments begin
/// with a colon.
fn next_event(bytes: &mut Vec<u8>) -> Option<Poke> {
    loop {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n")?;
        let event: Vec<u8> = bytes.drain(..end.saturating_add(2)).collect();
        let data = event.trim_ascii().strip_prefix(b"data:");
        if let Some(poke) = data.and_then(|data| serde_json::from_slice(data).ok()) {
            return Some(poke);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_whole_and_nothing_else_is_one() {
        let id = "4b74c877-c40f-8d75-966e-04fce373d865";
        let event = format!("data: {{\"spreadsheet\":\"{id}\",\"head\":7}}\n\n");
        let mut bytes = Vec::new();
        for (at, byte) in event.bytes().enumerate() {
            assert_eq!(next_event(&mut bytes), None, "{at} bytes");
            bytes.push(byte);
        }
        bytes.extend_from_slice(b":\n\ndata: {}\n\nretry: 5\n\n");
        bytes.extend_from_slice(event.replace('7', "8").as_bytes());
        let heads: Vec<u64> =
            std::iter::from_fn(|| Some(next_event(&mut bytes)?.head.pack())).collect();
        // The digits of the id are others then, too.
        assert_eq!((heads, bytes.len()), (vec![7, 8], 0));
    }
}
