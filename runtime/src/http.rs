//! HTTP client for hosts outside AWS: token issuers and the webhook receiver.

use std::net::IpAddr;
use std::time::Duration;

use aws_sdk_dynamodb::config::http::HttpRequest;
use aws_sdk_s3::primitives::SdkBody;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Connector, proxy};
use aws_smithy_runtime_api::client::dns::{DnsFuture, ResolveDns, ResolveDnsError};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use cellar_catalog::webhook::Receivers;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

/// An HTTP client that does not follow redirects. Reuses the AWS SDK's connector, which keeps the
/// deployment package small.
#[derive(Debug)]
pub(crate) struct HttpClient {
    connector: Connector,
    timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpFault {
    /// No response arrived within the timeout. The server may have received the request
    /// nevertheless.
    #[error("no response: {0}")]
    Unreachable(String),
    #[error("status {0}")]
    Status(u16),
    #[error("the response is too long")]
    TooLong,
}

#[derive(Debug, Clone)]
struct Resolver {
    /// `None` permits every address.
    receivers: Option<Receivers>,
}

/// An arbitrary port: address lookups require one, but the result does not depend on it.
const ANY_PORT: u16 = 0;

impl ResolveDns for Resolver {
    fn resolve_dns<'a>(&'a self, host_name: &'a str) -> DnsFuture<'a> {
        DnsFuture::new(async move {
            let socket_addresses = tokio::net::lookup_host((host_name, ANY_PORT))
                .await
                .map_err(ResolveDnsError::new)?;
            let addresses: Vec<IpAddr> = socket_addresses.map(|socket| socket.ip()).collect();
            let Some(permitted_receivers) = self.receivers else { return Ok(addresses) };
            let permitted_addresses: Vec<IpAddr> = addresses
                .iter()
                .copied()
                .filter(|address| permitted_receivers.allows(*address))
                .collect();
            if permitted_addresses.is_empty() {
                return Err(ResolveDnsError::new(format!(
                    "`{host_name}` resolves to {addresses:?}, which is not a public address; use a \
                     host on the public internet"
                )));
            }
            Ok(permitted_addresses)
        })
    }
}

impl HttpClient {
    pub(crate) fn new(timeout_ms: u64) -> Self {
        Self::with_resolver(timeout_ms, Resolver { receivers: None })
    }

    /// Creates a client that connects only to addresses permitted by `receivers`. The check applies
    /// to the addresses that a host name resolves to, at each new connection. An IP address in the
    /// URL is not checked.
    pub(crate) fn restricted_to(timeout_ms: u64, receivers: Receivers) -> Self {
        Self::with_resolver(timeout_ms, Resolver { receivers: Some(receivers) })
    }

    fn with_resolver(timeout_ms: u64, resolver: Resolver) -> Self {
        let connector = Connector::builder()
            .proxy_config(proxy::ProxyConfig::disabled())
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .build_with_resolver(resolver);
        Self { connector, timeout: Duration::from_millis(timeout_ms) }
    }

    pub(crate) async fn get(&self, url: &str, max_bytes: usize) -> Result<Vec<u8>, HttpFault> {
        let request = HttpRequest::get(url).map_err(|error| unreachable_fault(&error))?;
        self.with_timeout(self.get_body(request, max_bytes)).await
    }

    /// Posts a JSON body to `url`. Checks the response status and ignores the response body.
    pub(crate) async fn post_json(
        &self,
        url: &str,
        body: String,
        headers: &[(&'static str, String)],
    ) -> Result<(), HttpFault> {
        let mut request = HttpRequest::new(SdkBody::from(body));
        request.set_uri(url).map_err(|error| unreachable_fault(&error))?;
        request.set_method("POST").map_err(|error| unreachable_fault(&error))?;
        let content_type = ("content-type", "application/json".to_owned());
        for (name, value) in headers.iter().cloned().chain([content_type]) {
            request
                .headers_mut()
                .try_insert(name, value)
                .map_err(|error| unreachable_fault(&error))?;
        }
        self.with_timeout(self.send(request)).await?;
        Ok(())
    }

    async fn get_body(&self, request: HttpRequest, max_bytes: usize) -> Result<Vec<u8>, HttpFault> {
        let body = self.send(request).await?;
        match Limited::new(body, max_bytes).collect().await {
            Ok(collected_body) => Ok(collected_body.to_bytes().to_vec()),
            Err(error) if error.is::<LengthLimitError>() => Err(HttpFault::TooLong),
            Err(error) => Err(HttpFault::Unreachable(error.to_string())),
        }
    }

    /// Returns an error if the status does not indicate success.
    async fn send(&self, request: HttpRequest) -> Result<SdkBody, HttpFault> {
        let response = match self.connector.call(request).await {
            Ok(response) => response,
            Err(error) => return Err(HttpFault::Unreachable(root_cause(&error))),
        };
        let status = response.status();
        if !status.is_success() {
            return Err(HttpFault::Status(status.as_u16()));
        }
        Ok(response.into_body())
    }

    async fn with_timeout<T>(
        &self,
        request: impl Future<Output = Result<T, HttpFault>>,
    ) -> Result<T, HttpFault> {
        match tokio::time::timeout(self.timeout, request).await {
            Ok(result) => result,
            Err(_) => {
                let timeout_ms = self.timeout.as_millis();
                Err(HttpFault::Unreachable(format!("timed out after {timeout_ms} ms")))
            }
        }
    }
}

/// Returns the message of the innermost error, which describes the root cause. The messages of the
/// outer errors only say that the request failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost_error = error;
    while let Some(cause) = innermost_error.source() {
        innermost_error = cause;
    }
    innermost_error.to_string()
}

fn unreachable_fault(error: &impl ToString) -> HttpFault {
    HttpFault::Unreachable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refuses_a_host_name_that_resolves_to_loopback() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://localhost:{}/", listener.local_addr().unwrap().port());
        let client = HttpClient::restricted_to(10_000, Receivers::Public);
        let fault = client.post_json(&url, "{}".to_owned(), &[]).await.unwrap_err();
        let HttpFault::Unreachable(why) = &fault else { panic!("{fault}") };
        assert!(why.contains("not a public address") && why.contains("127.0.0.1"), "{why}");
        let no_connection = std::future::poll_fn(|context| {
            std::task::Poll::Ready(listener.poll_accept(context).is_pending())
        });
        assert!(no_connection.await, "the client connected");
        let resolver = Resolver { receivers: Some(Receivers::PublicAndLocalhost) };
        let own = resolver.resolve_dns("localhost").await.unwrap();
        assert_eq!(own, [IpAddr::from([127, 0, 0, 1])]);
    }
}
