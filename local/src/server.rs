//! An embedded server. Each server has its own thread, async runtime and port on 127.0.0.1.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::error::LocalError;

/// Number of worker threads. One is not enough, because a request blocks its thread until its data
/// is synced to disk.
const WORKER_THREADS: usize = 4;

const END_TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) type StopSignal = oneshot::Receiver<()>;

pub(crate) async fn wait_for_stop(stop_signal: StopSignal) {
    // An error means that the sender was dropped. In this case, the server must stop too.
    let _ = stop_signal.await;
}

/// A server that stops when dropped.
#[derive(Debug)]
pub(crate) struct ServerThread {
    pub(crate) address: SocketAddr,
    stop_sender: Option<oneshot::Sender<()>>,
    end_receiver: mpsc::Receiver<()>,
}

impl ServerThread {
    /// Each server has its own async runtime, so that blocking work does not delay the API.
    pub(crate) async fn start<F, R>(server_name: &'static str, serve: F) -> Result<Self, LocalError>
    where
        F: FnOnce(TcpListener, StopSignal) -> R + Send + 'static,
        R: Future<Output = Result<(), String>>,
    {
        let start_error = |why: String| LocalError::Server { what: server_name, why };
        let (stop_sender, stop_signal) = oneshot::channel::<()>();
        let (address_sender, address_receiver) = oneshot::channel();
        let (end_sender, end_receiver) = mpsc::channel();
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKER_THREADS)
            .enable_all()
            .build()
            .map_err(|error| start_error(error.to_string()))?;
        let run_server = move || {
            runtime.block_on(bind_and_serve(server_name, address_sender, stop_signal, serve));
            drop(runtime);
            // Ignore the error that occurs if the process exits without dropping the server.
            let _ = end_sender.send(());
        };
        std::thread::Builder::new()
            .name(server_name.to_owned())
            .spawn(run_server)
            .map_err(|error| start_error(error.to_string()))?;
        let address = match address_receiver.await {
            Ok(Ok(address)) => address,
            Ok(Err(bind_error)) => return Err(start_error(bind_error.to_string())),
            Err(thread_ended) => return Err(start_error(thread_ended.to_string())),
        };
        Ok(Self { address, stop_sender: Some(stop_sender), end_receiver })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn bind_and_serve<F, R>(
    server_name: &'static str,
    address_sender: oneshot::Sender<io::Result<SocketAddr>>,
    stop_signal: StopSignal,
    serve: F,
) where
    F: FnOnce(TcpListener, StopSignal) -> R,
    R: Future<Output = Result<(), String>>,
{
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
        Ok(listener) => listener,
        Err(error) => {
            // Ignore the error that occurs if the caller of `ServerThread::start` no longer waits
            // for the address.
            let _ = address_sender.send(Err(error));
            return;
        }
    };
    let _ = address_sender.send(listener.local_addr());
    if let Err(error) = serve(listener, stop_signal).await {
        tracing::error!(error, "{server_name} failed");
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        if let Some(stop_sender) = self.stop_sender.take() {
            // Ignore the error that occurs if the server has already ended.
            let _ = stop_sender.send(());
        }
        // Wait until the server has closed its files. Another process may use the directory only
        // after that.
        let _ = self.end_receiver.recv_timeout(END_TIMEOUT);
    }
}
