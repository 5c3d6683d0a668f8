//! A TCP proxy that lets requests through and loses chosen replies.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// A proxy before a server.
pub struct LossyProxy {
    /// Where to connect.
    pub url: String,
    state: Arc<State>,
}

struct State {
    target: SocketAddr,
    /// Requests that hold this text lose their reply.
    needle: &'static str,
    to_lose: AtomicUsize,
    lost: AtomicUsize,
}

impl LossyProxy {
    /// A proxy before the server at `target_url`; see [`LossyProxy::lose`].
    pub async fn start(target_url: &str, needle: &'static str) -> Self {
        let target = target_url.trim_start_matches("http://").trim_end_matches('/');
        let target = target.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (to_lose, lost) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let state = Arc::new(State { target, needle, to_lose, lost });
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, Arc::clone(&shared)));
            }
        });
        Self { url, state }
    }

    /// Loses the replies of the next `count` requests that hold the text.
    pub fn lose(&self, count: usize) {
        self.state.to_lose.store(count, Ordering::SeqCst);
    }

    /// How many replies were lost so far.
    pub fn lost(&self) -> usize {
        self.state.lost.load(Ordering::SeqCst)
    }
}

async fn connection(client: TcpStream, state: Arc<State>) {
    let Ok(server) = TcpStream::connect(state.target).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let lose_next = Arc::new(AtomicBool::new(false));
    let (requests, replies) = (Arc::clone(&lose_next), lose_next);
    let state_of_requests = Arc::clone(&state);
    tokio::spawn(forward_requests(from_client, to_server, state_of_requests, requests));
    forward_replies(from_server, to_client, &state, &replies).await;
}

async fn forward_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: Arc<State>,
    lose_next: Arc<AtomicBool>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        let sent = &buffer[..count];
        // A request's head comes in one piece: it is far smaller than the buffer.
        if String::from_utf8_lossy(sent).contains(state.needle) {
            let take = |left: usize| left.checked_sub(1);
            let taken = state.to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
            lose_next.store(taken.is_ok(), Ordering::SeqCst);
        }
        if count == 0 || to.write_all(sent).await.is_err() {
            return;
        }
    }
}

async fn forward_replies(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: &State,
    lose_next: &AtomicBool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        if count > 0 && lose_next.swap(false, Ordering::SeqCst) {
            // The server has done it and answered; the connection breaks before the answer came.
            state.lost.fetch_add(1, Ordering::SeqCst);
            return;
        }
        if count == 0 || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
