//! Issuers' documents over HTTP.

use std::error::Error as _;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::config::http::HttpRequest;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::{Connector, proxy};
use aws_smithy_runtime_api::client::http::HttpConnector as _;
use cellar_core::limits::{KEY_SET_TIMEOUT_MS, MAX_KEY_SET_BYTES};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::source::{KeySource, KeySourceFault};

/// Over the client that the SDK has anyway: another one would make the bundle larger.
#[derive(Debug)]
pub struct HttpKeySource {
    connector: Connector,
}

impl Default for HttpKeySource {
    fn default() -> Self {
        let connector = Connector::builder()
            .proxy_config(proxy::ProxyConfig::disabled())
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .build();
        Self { connector }
    }
}

impl HttpKeySource {
    async fn read(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        let unreachable = |why: String| KeySourceFault::Unreachable { url: url.to_owned(), why };
        let request = HttpRequest::get(url).map_err(|error| unreachable(error.to_string()))?;
        let answer = self.connector.call(request).await;
        let answer = answer.map_err(|error| {
            // The SDK's own text says only that it failed.
            let cause = error.source().map(ToString::to_string);
            unreachable(cause.unwrap_or_else(|| error.to_string()))
        })?;
        if !answer.status().is_success() {
            let status = answer.status().as_u16();
            return Err(KeySourceFault::Status { url: url.to_owned(), status });
        }
        let body = Limited::new(answer.into_body(), MAX_KEY_SET_BYTES).collect().await;
        let body = body.map_err(|error| match error.is::<LengthLimitError>() {
            true => KeySourceFault::TooLarge { url: url.to_owned() },
            false => unreachable(error.to_string()),
        })?;
        Ok(body.to_bytes().to_vec())
    }
}

#[async_trait]
impl KeySource for HttpKeySource {
    async fn get(&self, url: &str) -> Result<Vec<u8>, KeySourceFault> {
        let timeout = Duration::from_millis(KEY_SET_TIMEOUT_MS);
        let late = |_| KeySourceFault::Unreachable {
            url: url.to_owned(),
            why: format!("no answer within {KEY_SET_TIMEOUT_MS} ms"),
        };
        tokio::time::timeout(timeout, self.read(url)).await.map_err(late)?
    }
}
