//! Requests to others than AWS: issuers of tokens, and the receiver of the webhook.

use std::error::Error as _;
use std::time::Duration;

use aws_sdk_dynamodb::config::http::HttpRequest;
use aws_sdk_s3::primitives::SdkBody;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Connector, proxy};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
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

impl HttpClient {
    /// A client whose requests take at most so long.
    pub(crate) fn new(timeout_ms: u64) -> Self {
        let connector = Connector::builder()
            .proxy_config(proxy::ProxyConfig::disabled())
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .build();
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
            // The SDK's own text says only that it failed.
            let cause = error.source().map(ToString::to_string);
            HttpFault::Unreachable(cause.unwrap_or_else(|| error.to_string()))
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
