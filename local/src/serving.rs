//! Serves HTTP with the same connection limits as a Lambda function URL.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use cellar_base::limits::{MAX_CONNECTIONS, MAX_HEADERS_S};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Serves requests until `shutdown` resolves, then completes the requests in progress.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    serve_with_limit(listener, router, shutdown, ConnectionLimit::default()).await;
}

async fn serve_with_limit(
    mut listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
    connection_limit: ConnectionLimit,
) {
    let open_connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    // The timeout for request headers also closes idle connections, because an idle connection
    // waits for the headers of its next request.
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(MAX_HEADERS_S));
    let accept_connections = async {
        while let Some(permit) = connection_limit.acquire().await {
            let stream = accept_without_delay(&mut listener).await;
            let service = TowerToHyperService::new(router.clone());
            let connection = http.serve_connection(TokioIo::new(stream), service);
            let connection = open_connections.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection failed");
                }
                drop(permit);
            });
        }
    };
    tokio::select! {
        () = accept_connections => {}
        () = shutdown => {}
    }
    drop(listener);
    open_connections.shutdown().await;
}

/// Accepts a connection that sends each packet at once. By default, TCP may hold a small packet back
/// until the client acknowledges the previous one, which takes up to 40 ms.
async fn accept_without_delay(listener: &mut TcpListener) -> TcpStream {
    let (stream, _peer_address) = Listener::accept(listener).await;
    // Without this option, the connection is slower but works.
    let _ = stream.set_nodelay(true);
    stream
}

struct ConnectionLimit(Arc<Semaphore>);

impl Default for ConnectionLimit {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONNECTIONS)))
    }
}

impl ConnectionLimit {
    async fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::oneshot;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    const LONG: Duration = Duration::from_secs(10 * MAX_HEADERS_S);

    async fn start_server(connection_limit: ConnectionLimit) -> (SocketAddr, oneshot::Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = oneshot::channel::<()>();
        let router = Router::new().route("/", get(|| async { "hello" }));
        let end_of_test = async move { drop(ended.await) };
        tokio::spawn(serve_with_limit(listener, router, end_of_test, connection_limit));
        (address, end)
    }

    async fn request(stream: &mut TcpStream) -> String {
        stream.write_all(REQUEST).await.unwrap();
        let mut bytes = vec![];
        while !bytes.ends_with(b"hello") {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the connection was closed");
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn connections_send_small_packets_at_once() {
        let mut listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = tokio::spawn(TcpStream::connect(address));
        assert!(accept_without_delay(&mut listener).await.nodelay().unwrap());
        client.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn limits_the_number_of_open_connections() {
        let connections = ConnectionLimit::default();
        let mut open = vec![];
        for _ in 0..MAX_CONNECTIONS {
            open.push(connections.acquire().await.unwrap());
        }
        assert_eq!(connections.0.available_permits(), 0);
        open.pop();
        assert!(connections.acquire().await.is_some());

        let (address, _end) = start_server(ConnectionLimit(Arc::new(Semaphore::new(1)))).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        request(&mut first).await;
        let mut second = TcpStream::connect(address).await.unwrap();
        let waits = tokio::time::timeout(Duration::from_millis(100), request(&mut second)).await;
        assert!(waits.is_err(), "the limit is one connection");
        drop(first);
        let mut bytes = [0; 15];
        second.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"HTTP/1.1 200 OK");
    }

    /// Advance the test clock instead of waiting.
    #[tokio::test]
    async fn closes_idle_connections_after_the_timeout() {
        let (address, _end) = start_server(ConnectionLimit::default()).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        let mut slow = TcpStream::connect(address).await.unwrap();
        request(&mut idle).await;
        request(&mut slow).await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(MAX_HEADERS_S - 1)).await;
        request(&mut slow).await;
        slow.write_all(b"GET / HTTP/1.1\r\nhost").await.unwrap();
        for mut stream in [idle, slow] {
            let mut nothing = [0];
            let read = tokio::time::timeout(LONG, stream.read(&mut nothing)).await;
            assert_eq!(read.expect("it stays open").unwrap_or(0), 0, "it was closed");
        }
    }

    #[tokio::test]
    async fn shutdown_closes_idle_connections_and_the_listener() {
        let (address, end) = start_server(ConnectionLimit::default()).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        request(&mut idle).await;
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
