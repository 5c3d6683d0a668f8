//! What proxies before a server have in common: they get a request, send it on as it is, and answer with
//! the server's reply or not at all.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};

/// What each connection says for itself.
const OF_ONE_CONNECTION: [&str; 4] =
    ["connection", "content-length", "keep-alive", "transfer-encoding"];

/// A request as it came.
pub type Request = (Method, Uri, HeaderMap, Bytes);

/// A reply as it came.
pub type Reply = (StatusCode, HeaderMap, Bytes);

/// The server behind a proxy.
#[derive(Debug, Clone)]
pub struct Target {
    url: String,
    http: reqwest::Client,
}

impl Target {
    /// The server at a URL.
    pub fn new(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { url: url.trim_end_matches('/').to_owned(), http }
    }

    /// Sends a request on; gives its reply. Headers stay what they are, the host, too: it may be signed.
    ///
    /// # Errors
    /// What broke the connection.
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

/// Serves on a free port until the test ends; gives the URL.
pub async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

/// Ends the task of the connection, and so the connection, without an answer. No panic is reported: it is
/// none.
pub fn break_connection() -> ! {
    std::panic::resume_unwind(Box::new("the connection breaks"))
}
