//! Receives pokes from the server. A poke is a hint that log entries were appended to a
//! spreadsheet. After a poke, a client polls immediately. Without pokes, it polls at intervals.

use std::future::pending;

use cellar_api::wire::Poke;
use cellar_base::position::Position;
use reqwest::{Method, Response};

use super::Spreadsheet;
use super::transport::StreamReply;

/// Valid server-sent events and comments are much shorter.
const MAX_EVENT_BYTES: usize = 4 * 1024;

/// A subscription to pokes, which are hints that a spreadsheet has new log entries. Callers must
/// also poll, because stacks on AWS send no pokes and a lost connection may remain unnoticed.
#[derive(Debug)]
pub struct Pokes {
    spreadsheet: Spreadsheet,
    connection: PokeConnection,
}

#[derive(Debug)]
enum PokeConnection {
    Disconnected,
    /// The connection is open. The buffer contains the bytes received after the last complete
    /// event.
    Open(Response, Vec<u8>),
    /// The server does not support pokes or sent an invalid event.
    Unsupported,
}

impl Spreadsheet {
    /// Subscribes to pokes, which are hints that the spreadsheet has new log entries. The request
    /// is sent by the first call to [`Pokes::wait_beyond`].
    #[must_use]
    pub fn pokes(&self) -> Pokes {
        Pokes { spreadsheet: self.clone(), connection: PokeConnection::Disconnected }
    }
}

impl Pokes {
    /// Waits for a poke with a position after `known` and returns this position. The method may
    /// wait forever, so run it concurrently with a poll timer. It is cancel safe.
    pub async fn wait_beyond(&mut self, known: Position) -> Position {
        loop {
            match &mut self.connection {
                PokeConnection::Unsupported => pending::<()>().await,
                PokeConnection::Disconnected => self.connect().await,
                PokeConnection::Open(_, unread_bytes) => match take_next_poke(unread_bytes) {
                    Some(poke) if poke.head > known => return poke.head,
                    Some(_outdated_poke) => {}
                    None => self.receive_bytes().await,
                },
            }
        }
    }

    /// If the connection is closed, waits forever.
    async fn receive_bytes(&mut self) {
        let PokeConnection::Open(response, unread_bytes) = &mut self.connection else { return };
        match response.chunk().await {
            Ok(Some(chunk)) if unread_bytes.len() + chunk.len() <= MAX_EVENT_BYTES => {
                unread_bytes.extend_from_slice(&chunk);
            }
            // An event of this length is not a poke. Do not reconnect, because the server would
            // send such events again.
            Ok(Some(_)) => self.connection = PokeConnection::Unsupported,
            // The connection was closed by the server or a proxy. Wait until the next call before
            // reconnecting, so that each poll makes at most one attempt.
            Ok(None) | Err(_) => {
                self.connection = PokeConnection::Disconnected;
                pending::<()>().await;
            }
        }
    }

    /// If the server is unreachable, waits forever.
    async fn connect(&mut self) {
        let call = self.spreadsheet.call(Method::GET).with_segment("pokes");
        match self.spreadsheet.client.transport.open_stream(call).await {
            StreamReply::Open(response) => {
                self.connection = PokeConnection::Open(response, Vec::new());
            }
            StreamReply::Refused => self.connection = PokeConnection::Unsupported,
            StreamReply::Failed => pending().await,
        }
    }
}

/// Comments and other events before the poke are discarded. Events end with a blank line.
fn take_next_poke(bytes: &mut Vec<u8>) -> Option<Poke> {
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
    fn takes_complete_pokes_and_skips_other_events() {
        let id = "4b74c877-c40f-8d75-966e-04fce373d865";
        let event = format!("data: {{\"spreadsheet\":\"{id}\",\"head\":7}}\n\n");
        let mut bytes = Vec::new();
        for (at, byte) in event.bytes().enumerate() {
            assert_eq!(take_next_poke(&mut bytes), None, "{at} bytes");
            bytes.push(byte);
        }
        bytes.extend_from_slice(b":\n\ndata: {}\n\nretry: 5\n\n");
        bytes.extend_from_slice(event.replace('7', "8").as_bytes());
        let heads: Vec<u64> =
            std::iter::from_fn(|| Some(take_next_poke(&mut bytes)?.head.pack())).collect();
        // The replacement may also change digits of the spreadsheet id. This does not affect the
        // test.
        assert_eq!((heads, bytes.len()), (vec![7, 8], 0));
    }
}
