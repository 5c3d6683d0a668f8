//! A server with TLS in front of another server.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Forwards connections with TLS to the server at an address without TLS, until the test ends.
/// Returns the URL. Its certificate, made with the program `openssl`, is in `certificate.pem` in
/// `folder`.
pub(super) async fn serve(server: String, folder: &Path) -> String {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let created = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(created.status.success(), "{created:?}");
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::from_pem_file(key).unwrap())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            client.set_nodelay(true).unwrap();
            tokio::spawn(forward(acceptor.clone(), client, server.clone()));
        }
    });
    url
}

async fn forward(acceptor: TlsAcceptor, client: TcpStream, server: String) {
    let mut server = TcpStream::connect(server).await.unwrap();
    server.set_nodelay(true).unwrap();
    let mut client = acceptor.accept(client).await.unwrap();
    // The client may close the connection at any time.
    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
}
