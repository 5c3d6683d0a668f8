//! Code shared by the proxies: they receive a request, forward it unchanged, and either return the
//! server's response or break the connection.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};

/// Headers that apply to a single connection and are therefore not forwarded.
const OF_ONE_CONNECTION: [&str; 4] =
    ["connection", "content-length", "keep-alive", "transfer-encoding"];

/// A received request.
pub type Request = (Method, Uri, HeaderMap, Bytes);

/// A received reply.
pub type Reply = (StatusCode, HeaderMap, Bytes);

/// The server to which a proxy forwards requests.
#[derive(Debug, Clone)]
pub struct Target {
    url: String,
    http: reqwest::Client,
}

impl Target {
    /// Creates a target for the server at `url`.
    pub fn new(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url: url.trim_end_matches('/').to_owned(), http }
    }

    /// Forwards a request and returns the response. Headers stay unchanged, including `Host`,
    /// because they may be signed.
    ///
    /// # Errors
    /// Returns the error that broke the connection.
    pub async fn pass_on(&self, request: Request) -> reqwest::Result<Reply> {
        let (method, uri, headers, body) = request;
        let url = format!("{}{uri}", self.url);
        let request = self.http.request(method, url).headers(passed(headers)).body(body);
        let reply = request.send().await?;
        let (status, headers) = (reply.status(), passed(reply.headers().clone()));
        Ok((status, headers, reply.bytes().await?))
    }
}

fn passed(mut headers: HeaderMap) -> HeaderMap {
    for name in OF_ONE_CONNECTION {
        headers.remove(name);
    }
    headers
}

/// Serves `router` on a free port until the test ends. Returns the URL.
pub async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

/// Breaks the connection without a response by ending the connection's task. The unwinding prints
/// no panic message, because the break is intended.
pub fn break_connection() -> ! {
    std::panic::resume_unwind(Box::new("the connection breaks"))
}
