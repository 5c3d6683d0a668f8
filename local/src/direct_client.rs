//! Sends the requests of a function to a service of the local stack without a connection. The service
//! receives the same signed HTTP requests as over its port.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::{HeaderValue, Response, Uri};
use axum::{BoxError, Router};
use tower_service::Service as _;

/// A client of a service that runs in this process.
#[derive(Debug, Clone)]
pub(crate) struct DirectClient {
    service: Router,
}

impl DirectClient {
    pub(crate) fn new(service: Router) -> Self {
        Self { service }
    }
}

impl HttpClient for DirectClient {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for DirectClient {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let mut service = self.service.clone();
        HttpConnectorFuture::new(async move {
            let request = to_received(request)?;
            let Ok(response) = service.call(request).await;
            to_sdk(response).await
        })
    }
}

fn user_error(error: impl Into<BoxError>) -> ConnectorError {
    ConnectorError::user(error.into())
}

/// Returns the request as a server receives it: its URI is a path, and it has a `Host` header.
fn to_received(request: HttpRequest) -> Result<Request, ConnectorError> {
    let mut request = request.try_into_http1x().map_err(user_error)?;
    if let Some(authority) = request.uri().authority() {
        let host = HeaderValue::from_str(authority.as_str()).map_err(user_error)?;
        request.headers_mut().insert(HOST, host);
    }
    if let Some(path) = request.uri().path_and_query() {
        *request.uri_mut() = Uri::from(path.clone());
    }
    Ok(request.map(Body::new))
}

async fn to_sdk(response: Response<Body>) -> Result<HttpResponse, ConnectorError> {
    let (parts, body) = response.into_parts();
    let bytes =
        to_bytes(body, usize::MAX).await.map_err(|error| ConnectorError::io(error.into()))?;
    HttpResponse::try_from(Response::from_parts(parts, SdkBody::from(bytes))).map_err(user_error)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, Method, StatusCode};

    use super::*;

    async fn describe(
        method: Method,
        uri: Uri,
        headers: HeaderMap,
        body: String,
    ) -> Response<Body> {
        let host = headers[HOST].to_str().unwrap();
        let received = format!("{method} {uri} at {host}: {body}");
        let response = Response::builder().status(StatusCode::ACCEPTED).header("x-number", "7");
        response.body(Body::from(received)).unwrap()
    }

    #[tokio::test]
    async fn a_service_receives_what_a_connection_would_carry() {
        let client = DirectClient::new(Router::new().fallback(describe));
        let mut request = HttpRequest::new(SdkBody::from("content"));
        request.set_method("PUT").unwrap();
        request.set_uri("http://127.0.0.1:8000/bucket/a%20key?tagging").unwrap();
        let response = client.call(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 202);
        assert_eq!(response.headers().get("x-number"), Some("7"));
        let received = std::str::from_utf8(response.body().bytes().unwrap()).unwrap();
        assert_eq!(received, "PUT /bucket/a%20key?tagging at 127.0.0.1:8000: content");
    }
}
