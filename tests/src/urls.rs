//! Sends requests with presigned URLs over real HTTP.

use cellar_engine::contract::{UrlReply, UrlRequest};

/// Sends a presigned request in the same way as a client without credentials.
pub async fn send(http: &reqwest::Client, request: UrlRequest) -> UrlReply {
    let method = request.method.parse().unwrap();
    let mut builder = http.request(method, &request.url).body(request.body);
    for (name, value) in request.headers {
        builder = builder.header(name, value);
    }
    let reply = builder.send().await.unwrap();
    UrlReply { status: reply.status().as_u16(), body: reply.bytes().await.unwrap() }
}
