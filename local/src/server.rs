//! An embedded server. Each server has its own thread, async runtime and port on 127.0.0.1. The
//! functions of the stack call its service without a connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc;
use std::time::Duration;

use axum::Router;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::direct_client::DirectClient;
use crate::error::LocalError;
use crate::serving;

/// Number of worker threads. One is not enough, because the database blocks the thread of a request
/// while it reads or writes.
const WORKER_THREADS: usize = 4;

const END_TIMEOUT: Duration = Duration::from_secs(3);

/// A server that stops when dropped.
#[derive(Debug)]
pub(crate) struct ServerThread {
    pub(crate) address: SocketAddr,
    service: Router,
    stop_sender: Option<oneshot::Sender<()>>,
    end_receiver: mpsc::Receiver<()>,
}

impl ServerThread {
    /// Serves the service that `create_service` returns for the server's address. `background_work`
    /// runs until the server stops.
    ///
    /// Each server has its own async runtime, so that requests over its port do not delay the API.
    pub(crate) fn start(
        server_name: &'static str,
        create_service: impl FnOnce(SocketAddr) -> Router,
        background_work: impl Future<Output = ()> + Send + 'static,
    ) -> Result<Self, LocalError> {
        let start_error = |error: io::Error| {
            let why = error.to_string();
            LocalError::Server { what: server_name, why }
        };
        let (listener, address) = bind_free_port().map_err(start_error)?;
        let service = create_service(address);
        let runtime = create_runtime().map_err(start_error)?;
        let (stop_sender, stop_signal) = oneshot::channel::<()>();
        let (end_sender, end_receiver) = mpsc::channel();
        let served = service.clone();
        let run_server = move || {
            runtime.spawn(background_work);
            if let Err(error) = runtime.block_on(serve(listener, served, stop_signal)) {
                tracing::error!(%error, "{server_name} failed");
            }
            drop(runtime);
            // Ignore the error that occurs if the process exits without dropping the server.
            let _ = end_sender.send(());
        };
        std::thread::Builder::new()
            .name(server_name.to_owned())
            .spawn(run_server)
            .map_err(start_error)?;
        Ok(Self { address, service, stop_sender: Some(stop_sender), end_receiver })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns a client that calls the service without a connection.
    pub(crate) fn direct_client(&self) -> DirectClient {
        DirectClient::new(self.service.clone())
    }
}

fn bind_free_port() -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

fn create_runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(WORKER_THREADS).enable_all().build()
}

async fn serve(
    listener: TcpListener,
    service: Router,
    stop_signal: oneshot::Receiver<()>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let stop = async {
        // An error means that the sender was dropped. In this case, the server must stop too.
        let _ = stop_signal.await;
    };
    serving::serve(listener, service, stop).await;
    Ok(())
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
