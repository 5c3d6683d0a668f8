//! A server of the local cloud: a thread and a runtime of its own, a free port on 127.0.0.1.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::error::LocalError;

/// Requests may hold their thread until the disk has synced: some must be left to answer others.
const THREADS: usize = 4;

/// How long the last requests may take.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// Resolves when the server is to end.
pub(crate) type Stopped = oneshot::Receiver<()>;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct ServerThread {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: mpsc::Receiver<()>,
}

impl ServerThread {
    /// Runs `serve` with a listener on a free port, on a runtime of its own: blocking work must
    /// not hold up the API's tasks.
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
            runtime.block_on(async move {
                let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
                    Ok(listener) => listener,
                    Err(error) => return drop(started.send(Err(error))),
                };
                drop(started.send(listener.local_addr()));
                if let Err(error) = serve(listener, stopped).await {
                    tracing::error!(error, "{what} ended");
                }
            });
            drop(runtime);
            // Nobody waits if the process ends in another way.
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

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The server may have ended by itself.
            let _ = stop.send(());
        }
        // So that files are closed before the folder is free for another process.
        let _ = self.ended.recv_timeout(END_TIMEOUT);
    }
}
