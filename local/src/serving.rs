//! Serves HTTP with the limits that a function URL has by itself.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use cellar_base::limits::{MAX_CONNECTIONS, MAX_HEADERS_S};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Serves until `end` resolves and the requests under way are answered.
pub(crate) async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    serve_within(listener, router, end, Connections::default()).await;
}

async fn serve_within(
    mut listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()>,
    connections: Connections,
) {
    let under_way = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    // It ends idle connections as well: they wait for the headers of their next request.
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(MAX_HEADERS_S));
    let accept = async {
        while let Some(open) = connections.next().await {
            let (stream, _) = Listener::accept(&mut listener).await;
            let service = TowerToHyperService::new(router.clone());
            let served = under_way.watch(http.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                if let Err(error) = served.await {
                    tracing::debug!(%error, "a connection ended");
                }
                drop(open);
            });
        }
    };
    tokio::select! {
        () = accept => {}
        () = end => {}
    }
    drop(listener);
    under_way.shutdown().await;
}

/// The connections that may be open at once.
struct Connections(Arc<Semaphore>);

impl Default for Connections {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONNECTIONS)))
    }
}

impl Connections {
    /// Waits for a free place.
    async fn next(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;
    use tokio::sync::oneshot;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    const LONG: Duration = Duration::from_secs(10 * MAX_HEADERS_S);

    async fn served(connections: Connections) -> (SocketAddr, oneshot::Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let router = Router::new().route("/", get(|| async { "hello" }));
        let end_of_test = async move { drop(ended.await) };
        tokio::spawn(serve_within(listener, router, end_of_test, connections));
        (address, end)
    }

    async fn answered(stream: &mut TcpStream) -> String {
        stream.write_all(REQUEST).await.unwrap();
        let mut bytes = vec![];
        while !bytes.ends_with(b"hello") {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "it was closed");
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn so_many_connections_are_open_and_no_more() {
        let connections = Connections::default();
        let mut open = vec![];
        for _ in 0..MAX_CONNECTIONS {
            open.push(connections.next().await.unwrap());
        }
        assert_eq!(connections.0.available_permits(), 0);
        open.pop();
        assert!(connections.next().await.is_some());

        let (address, _end) = served(Connections(Arc::new(Semaphore::new(1)))).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        answered(&mut first).await;
        let mut second = TcpStream::connect(address).await.unwrap();
        let waits = tokio::time::timeout(Duration::from_millis(100), answered(&mut second)).await;
        assert!(waits.is_err(), "one is open");
        drop(first);
        let mut bytes = [0; 15];
        second.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"HTTP/1.1 200 OK");
    }

    /// Time is what the test says: no wait is a real one.
    #[tokio::test]
    async fn an_idle_connection_is_closed_after_so_long() {
        let (address, _end) = served(Connections::default()).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        let mut slow = TcpStream::connect(address).await.unwrap();
        answered(&mut idle).await;
        answered(&mut slow).await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(MAX_HEADERS_S - 1)).await;
        answered(&mut slow).await;
        slow.write_all(b"GET / HTTP/1.1\r\nhost").await.unwrap();
        for mut stream in [idle, slow] {
            let mut nothing = [0];
            let read = tokio::time::timeout(LONG, stream.read(&mut nothing)).await;
            assert_eq!(read.expect("it stays open").unwrap_or(0), 0, "it was closed");
        }
    }

    #[tokio::test]
    async fn what_is_under_way_is_answered_at_the_end_and_what_is_idle_is_closed() {
        let (address, end) = served(Connections::default()).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        answered(&mut idle).await;
        end.send(()).unwrap();
        assert_eq!(idle.read(&mut [0]).await.unwrap(), 0);
        let refused = async {
            while TcpStream::connect(address).await.is_ok() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, refused).await.unwrap();
    }
}
