//! Requests to others than AWS: issuers of tokens, and the receiver of the webhook.

use std::error::Error as _;
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

/// A client over what the SDK has anyway: another one would make the bundle larger. It follows no redirects.
#[derive(Debug)]
pub(crate) struct HttpClient {
    connector: Connector,
    timeout: Duration,
}

/// A request that was not answered, or with something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpFault {
    /// No answer, or not in time: it may have arrived all the same.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// An answer that is none of success.
    #[error("status {0}")]
    Status(u16),
    /// More than anybody needs.
    #[error("the answer is too long")]
    TooLong,
}

/// Asks the system for the addresses of a name, and gives those of receivers; all of them if none are named.
#[derive(Debug, Clone)]
struct Resolver {
    receivers: Option<Receivers>,
}

/// A name without an address of a receiver.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` has no public address, but {found:?}: deliveries go to the public internet only")]
struct NotPublic {
    name: String,
    found: Vec<IpAddr>,
}

impl ResolveDns for Resolver {
    fn resolve_dns<'a>(&'a self, name: &'a str) -> DnsFuture<'a> {
        DnsFuture::new(async move {
            let found = tokio::net::lookup_host((name, 0)).await.map_err(ResolveDnsError::new)?;
            let found: Vec<IpAddr> = found.map(|socket| socket.ip()).collect();
            let takes = |address: &IpAddr| self.receivers.is_none_or(|its| its.takes(*address));
            let taken: Vec<IpAddr> = found.iter().copied().filter(takes).collect();
            match taken.is_empty() {
                true => Err(ResolveDnsError::new(NotPublic { name: name.to_owned(), found })),
                false => Ok(taken),
            }
        })
    }
}

impl HttpClient {
    /// A client whose requests take at most so long.
    pub(crate) fn new(timeout_ms: u64) -> Self {
        Self::with(timeout_ms, Resolver { receivers: None })
    }

    /// A client that connects to these receivers only: it checks the addresses of a host's name at each
    /// connection. The caller checks a URL that has an address instead of a name.
    pub(crate) fn only_to(timeout_ms: u64, receivers: Receivers) -> Self {
        Self::with(timeout_ms, Resolver { receivers: Some(receivers) })
    }

    fn with(timeout_ms: u64, resolver: Resolver) -> Self {
        let connector = Connector::builder()
            .proxy_config(proxy::ProxyConfig::disabled())
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .build_with_resolver(resolver);
        Self { connector, timeout: Duration::from_millis(timeout_ms) }
    }

    /// What is at this URL, if it has no more than so many bytes.
    pub(crate) async fn get(&self, url: &str, max_bytes: usize) -> Result<Vec<u8>, HttpFault> {
        let request = HttpRequest::get(url).map_err(|error| unreachable(&error))?;
        self.in_time(self.exchange(request, max_bytes)).await
    }

    /// Sends a text of JSON to this URL; of the answer no more than the status is read.
    pub(crate) async fn post_json(
        &self,
        url: &str,
        body: String,
        headers: &[(&'static str, String)],
    ) -> Result<(), HttpFault> {
        let mut request = HttpRequest::new(SdkBody::from(body));
        request.set_uri(url).map_err(|error| unreachable(&error))?;
        request.set_method("POST").map_err(|error| unreachable(&error))?;
        let json = ("content-type", "application/json".to_owned());
        for (name, value) in headers.iter().cloned().chain([json]) {
            request.headers_mut().try_insert(name, value).map_err(|error| unreachable(&error))?;
        }
        self.in_time(self.answered(request)).await.map(drop)
    }

    async fn exchange(&self, request: HttpRequest, max_bytes: usize) -> Result<Vec<u8>, HttpFault> {
        let answer = Limited::new(self.answered(request).await?, max_bytes).collect().await;
        let answer = answer.map_err(|error| match error.is::<LengthLimitError>() {
            true => HttpFault::TooLong,
            false => HttpFault::Unreachable(error.to_string()),
        })?;
        Ok(answer.to_bytes().to_vec())
    }

    async fn answered(&self, request: HttpRequest) -> Result<SdkBody, HttpFault> {
        let answer = self.connector.call(request).await.map_err(|error| {
            // Only the first cause says more than that it failed.
            let causes = std::iter::successors(error.source(), |cause| (*cause).source());
            let first = causes.last().map(ToString::to_string);
            HttpFault::Unreachable(first.unwrap_or_else(|| error.to_string()))
        })?;
        match answer.status().is_success() {
            true => Ok(answer.into_body()),
            false => Err(HttpFault::Status(answer.status().as_u16())),
        }
    }

    async fn in_time<T>(
        &self,
        exchange: impl Future<Output = Result<T, HttpFault>>,
    ) -> Result<T, HttpFault> {
        let late =
            |_| HttpFault::Unreachable(format!("nothing within {} ms", self.timeout.as_millis()));
        tokio::time::timeout(self.timeout, exchange).await.map_err(late)?
    }
}

fn unreachable(error: &impl ToString) -> HttpFault {
    HttpFault::Unreachable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_comes_to_this_machine_is_asked_nothing() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://localhost:{}/", listener.local_addr().unwrap().port());
        let client = HttpClient::only_to(10_000, Receivers::Public);
        let fault = client.post_json(&url, "{}".to_owned(), &[]).await.unwrap_err();
        let HttpFault::Unreachable(why) = &fault else { panic!("{fault}") };
        assert!(why.contains("no public address") && why.contains("127.0.0.1"), "{why}");
        let nobody = std::future::poll_fn(|context| {
            std::task::Poll::Ready(listener.poll_accept(context).is_pending())
        });
        assert!(nobody.await, "it was connected to");
        let resolver = Resolver { receivers: Some(Receivers::AlsoThisMachine) };
        let own = resolver.resolve_dns("localhost").await.unwrap();
        assert_eq!(own, [IpAddr::from([127, 0, 0, 1])]);
    }
}
