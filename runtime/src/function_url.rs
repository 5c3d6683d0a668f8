//! Repairs the URLs of requests before `lambda_http` parses them. A function URL decodes each `+` in
//! the query to a space, and `lambda_http` panics on characters that a URL must not contain.

use std::task::{Context, Poll};

use aws_lambda_events::apigw::ApiGatewayV2httpRequest;
use lambda_http::http::header::{HOST, HeaderName};
use lambda_http::request::LambdaRequest;
use lambda_http::{LambdaEvent, Service};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Existing escape sequences are kept.
const ESCAPED_IN_QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');
/// Maximum length of a path and its query. No valid request of the API is longer, and the parser
/// fails at 65,535 bytes.
const MAX_URL_BYTES: usize = 32 * 1024;
/// Replaces the path of a URL that is too long. No route has this path.
const TOO_LONG_PATH: &str = "/too-long";
/// Maximum number of bytes that replace one byte of a path when the path is escaped.
const MAX_ESCAPED_BYTES: usize = 3;
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

#[derive(Debug, Clone)]
pub(crate) struct RepairUrls<S> {
    inner: S,
}

impl<S> RepairUrls<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: Service<LambdaEvent<LambdaRequest>>> Service<LambdaEvent<LambdaRequest>> for RepairUrls<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut event: LambdaEvent<LambdaRequest>) -> Self::Future {
        if let LambdaRequest::ApiGatewayV2(request) = &mut event.payload {
            repair_url(request);
        }
        self.inner.call(event)
    }
}

/// A URL that is too long is replaced by one that the API answers with 404.
fn repair_url(request: &mut ApiGatewayV2httpRequest) {
    // The host and the scheme are not used, but an invalid value would make the parser panic.
    request.headers.remove(HOST);
    request.headers.remove(X_FORWARDED_PROTO);
    let mut path = request.raw_path.take().unwrap_or_default();
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    let raw_query = request.raw_query_string.take().unwrap_or_default();
    let mut query = utf8_percent_encode(&raw_query, ESCAPED_IN_QUERY).to_string();
    if path.len() * MAX_ESCAPED_BYTES + query.len() > MAX_URL_BYTES {
        path = TOO_LONG_PATH.to_owned();
        query = String::new();
    }
    request.raw_path = Some(path);
    request.raw_query_string = Some(query);
}

#[cfg(test)]
mod tests {
    use lambda_http::Request;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn event(path: &str, query: &str, headers: &Value) -> LambdaRequest {
        let event = json!({
            "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query,
            "headers": headers,
            "requestContext": {
                "apiId": "abc", "stage": "$default", "domainName": "abc.on.aws", "timeEpoch": 1,
                "http": { "method": "GET", "path": path, "protocol": "HTTP/1.1" },
            },
            "isBase64Encoded": false,
        });
        serde_json::from_value(event).unwrap()
    }

    /// Repairs a request, and returns the path and the query that `lambda_http` parses.
    fn parse(path: &str, query: &str, headers: &Value) -> (String, Option<String>) {
        let LambdaRequest::ApiGatewayV2(mut request) = event(path, query, headers) else {
            panic!("the event is not a request of a function URL")
        };
        repair_url(&mut request);
        let request = Request::from(LambdaRequest::ApiGatewayV2(request));
        let uri = request.uri();
        (uri.path().to_owned(), uri.query().map(str::to_owned))
    }

    #[test]
    fn escapes_the_query_and_keeps_valid_urls() {
        for (query, expected) in [
            ("", None),
            ("name=a%20b&x=%2B", Some("name=a%20b&x=%2B")),
            ("name=a b", Some("name=a%20b")),
            ("name=ü\"#<>\\^`{|}\u{7f}\n", Some("name=%C3%BC%22%23%3C%3E%5C%5E%60%7B%7C%7D%7F%0A")),
            ("100%", Some("100%")),
        ] {
            let parsed = parse("/v1/spreadsheets", query, &json!({}));
            let expected = ("/v1/spreadsheets".to_owned(), expected.map(str::to_owned));
            assert_eq!(parsed, expected, "{query:?}");
        }
    }

    #[test]
    fn ignores_invalid_hosts_and_schemes() {
        let headers = json!({ "host": "a b:x", "x-forwarded-proto": "1 2" });
        assert_eq!(parse(":1@b", "", &headers).0, "/:1@b");
    }

    #[test]
    fn replaces_urls_that_are_too_long() {
        let longest = "x".repeat(MAX_URL_BYTES - MAX_ESCAPED_BYTES * "/v1".len());
        assert_eq!(parse("/v1", &longest, &json!({})), ("/v1".to_owned(), Some(longest.clone())));
        let longer = format!("{longest}x");
        assert_eq!(parse("/v1", &longer, &json!({})), (TOO_LONG_PATH.to_owned(), None));
    }

    proptest! {
        #[test]
        fn every_url_can_be_parsed(path: String, query: String, host: String) {
            let host: String = host.chars().filter(|letter| !letter.is_control()).collect();
            let headers = json!({ "host": host, "x-forwarded-proto": "https" });
            let (path, _query) = parse(&path, &query, &headers);
            prop_assert!(path.starts_with('/'));
        }
    }
}
