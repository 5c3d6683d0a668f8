//! An embedded server. Each server has its own thread, async runtime and free port on 127.0.0.1.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::error::LocalError;

/// Number of worker threads. More than one, because a request may block its thread until the disk
/// has synced.
const THREADS: usize = 4;

/// Timeout for in-flight requests when a server is dropped.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// Resolves when the server must stop.
pub(crate) type Stopped = oneshot::Receiver<()>;

/// A server that stops when dropped.
#[derive(Debug)]
pub(crate) struct ServerThread {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: mpsc::Receiver<()>,
}

impl ServerThread {
    /// Runs `serve` with a listener on a free port, in a separate runtime, so that blocking work
    /// does not delay the API's tasks.
    pub(crate) async fn start<F, R>(what: &'static str, serve: F) -> Result<Self, LocalError>
    where
        F: FnOnce(TcpListener, Stopped) -> R + Send + 'static,
        R: Future<Output = Result<(), String>>,
    {
        let fault = |why: String| LocalError::Server { what, why };
        let (stop, stopped) = oneshot::channel::<()>();
        let (started, address) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .map_err(|error| fault(error.to_string()))?;
        let run = move || {
            runtime.block_on(bind_and_serve(what, started, stopped, serve));
            drop(runtime);
            // The receiver is already dropped if the process exits without dropping the server.
            let _ = end.send(());
        };
        std::thread::Builder::new()
            .name(what.to_owned())
            .spawn(run)
            .map_err(|error| fault(error.to_string()))?;
        let address = address.await.map_err(|error| fault(error.to_string()))?;
        let address = address.map_err(|error| fault(error.to_string()))?;
        Ok(Self { address, stop: Some(stop), ended })
    }

    /// Returns the server's URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Binds a free port, sends its address to `started`, and serves until `stopped` resolves.
async fn bind_and_serve<F, R>(
    what: &'static str,
    started: oneshot::Sender<io::Result<SocketAddr>>,
    stopped: Stopped,
    serve: F,
) where
    F: FnOnce(TcpListener, Stopped) -> R,
    R: Future<Output = Result<(), String>>,
{
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
        Ok(listener) => listener,
        Err(error) => return drop(started.send(Err(error))),
    };
    drop(started.send(listener.local_addr()));
    if let Err(error) = serve(listener, stopped).await {
        tracing::error!(error, "{what} failed");
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is already dropped if the server has ended.
            let _ = stop.send(());
        }
        // Wait until the server's files are closed; only then may another process lock the
        // directory.
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }
}
