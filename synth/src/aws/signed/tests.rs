use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::aws::metric_sums::PAGES_MAX;

const OPERATION: Operation = Operation {
    service: "logs",
    target: "Logs_20140328.FilterLogEvents",
    json_version: "1.1",
    name: "read the logs",
};

/// HTTP server that sends the scripted responses in order and then repeats the last one forever.
struct Service {
    aws: Aws,
    requests: Arc<AtomicU32>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    /// Starts the server with the status and body of each response. For status 0, the server closes
    /// the connection without a response.
    async fn start(replies: Vec<(u16, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let number = usize::try_from(counter.fetch_add(1, Ordering::SeqCst)).unwrap();
                let (status, body) = &replies[number.min(replies.len() - 1)];
                let mut request = vec![0; 8_192];
                let read = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..read]).to_lowercase();
                let targets = ["logs_20140328.filterlogevents", "graniteserviceversion20100801."];
                let is_known = |target| request.contains(&format!("x-amz-target: {target}"));
                assert!(targets.into_iter().any(is_known), "{request}");
                assert!(request.contains("authorization: aws4-hmac-sha256"), "{request}");
                if *status == 0 {
                    continue;
                }
                let head = format!(
                    "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                // The client may have closed the connection because the body was too large.
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(body).await;
            }
        });
        Self { aws: Aws::at_endpoint(&url), requests, task }
    }

    async fn with_replies(replies: &[(u16, &str)]) -> Self {
        Self::start(
            replies.iter().map(|(status, body)| (*status, body.as_bytes().to_vec())).collect(),
        )
        .await
    }

    async fn read(&self) -> Result<Value, AwsError> {
        self.aws.send_read_request(OPERATION, &json!({ "limit": 1 })).await
    }

    fn request_count(&self) -> u32 {
        self.requests.load(Ordering::SeqCst)
    }
}

#[test]
fn signatures_match_another_implementation() {
    // An independent implementation of the documented algorithm computed the expected signature.
    let credentials = Credentials::new("key", "secret", Some("session".to_owned()), None, "test");
    let now = UNIX_EPOCH + Duration::from_secs(1_793_516_645);
    let url = "https://logs.eu-west-1.amazonaws.com/";
    let headers =
        signed_headers(OPERATION, url, "eu-west-1", br#"{"limit":1}"#, credentials, now).unwrap();
    let expected = "AWS4-HMAC-SHA256 Credential=key/20261101/eu-west-1/logs/aws4_request, \
                    SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, \
                    Signature=35a5b684c3ed866126eddd664f059462ce9ab421ebfa380c2c2002050cc258ff";
    assert_eq!(headers["authorization"], expected);
    assert_eq!(headers["x-amz-security-token"], "session");
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    assert!(
        !format!("{headers:?}")
            .contains("35a5b684c3ed866126eddd664f059462ce9ab421ebfa380c2c2002050cc258ff"),
        "secrets are not printed"
    );
}

#[tokio::test]
async fn retries_temporary_failures() {
    let throttled = r#"{"__type":"ThrottlingException","message":"slow down"}"#;
    let replies = [(500, "oops"), (429, "{}"), (400, throttled), (0, ""), (200, r#"{"ok":1}"#)];
    let service = Service::with_replies(&replies).await;
    assert_eq!(service.read().await.unwrap(), json!({ "ok": 1 }));
    assert_eq!(service.request_count(), ATTEMPTS_MAX);
    // All request attempts fail.
    let service = Service::with_replies(&[(503, "oops")]).await;
    let error = service.read().await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the logs: HTTP 503: oops");
    assert_eq!(service.request_count(), ATTEMPTS_MAX);
}

#[tokio::test]
async fn does_not_retry_final_failures() {
    let denied = r#"{"__type":"com.amazon.coral.service#AccessDeniedException:http://x","Message":"not authorized to perform: logs:FilterLogEvents"}"#;
    let service = Service::with_replies(&[(400, denied)]).await;
    let error = service.read().await.unwrap_err();
    assert!(matches!(error, AwsError::Denied { .. }), "{error}");
    assert!(error.to_string().contains("logs:FilterLogEvents"), "{error}");
    assert_eq!(service.request_count(), 1);
    for (code, expected) in [
        ("ExpiredTokenException", "have expired"),
        ("UnrecognizedClientException", "AWS rejected the credentials"),
        ("ResourceNotFoundException", "ResourceNotFoundException: m"),
    ] {
        let body = json!({ "__type": code, "message": "m" }).to_string();
        let error = Service::with_replies(&[(400, &body)]).await.read().await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = Service::with_replies(&[(200, "no JSON")]).await.read().await.unwrap_err();
    assert!(matches!(error, AwsError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn replies_are_bounded() {
    for (more, is_read) in [(0, true), (1, false)] {
        let text = format!("\"{}\"", "x".repeat(REPLY_BYTES_MAX - 2 + more));
        let service = Service::start(vec![(200, text.into_bytes())]).await;
        assert_eq!(service.read().await.is_ok(), is_read);
        assert_eq!(service.request_count(), 1);
    }
}

#[tokio::test]
async fn pages_are_bounded() {
    let page = r#"{"MetricAlarms":[{"AlarmName":"a"}],"NextToken":"more"}"#;
    let last = r#"{"MetricAlarms":[{"AlarmName":"b"}]}"#;
    let names = ["a".to_owned(), "b".to_owned()];
    let mut pages = vec![(200, page); PAGES_MAX - 1];
    let service = Service::with_replies(&[pages.as_slice(), &[(200, last)]].concat()).await;
    assert_eq!(service.aws.active_alarms(&names).await.unwrap().len(), PAGES_MAX);
    pages.push((200, page));
    let service = Service::with_replies(&[pages.as_slice(), &[(200, last)]].concat()).await;
    let error = service.aws.active_alarms(&names).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the alarms: the response has more than 100 pages");
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let aws = Aws::at_endpoint(&format!("http://{}", listener.local_addr().unwrap()));
    drop(listener);
    let error = aws.send_read_request::<Value>(OPERATION, &json!({})).await.unwrap_err();
    assert!(matches!(error, AwsError::Unreachable { .. }), "{error}");
}

#[test]
fn service_urls_contain_region_and_domain() {
    let mut aws = Aws::at_endpoint("http://127.0.0.1:1");
    assert_eq!(aws.service_url("logs"), "http://127.0.0.1:1/");
    aws.endpoint_url = None;
    assert_eq!(aws.service_url("monitoring"), "https://monitoring.us-east-1.amazonaws.com/");
    (aws.partition, aws.region) = ("aws-cn".to_owned(), "cn-north-1".to_owned());
    assert_eq!(aws.service_url("logs"), "https://logs.cn-north-1.amazonaws.com.cn/");
    (aws.partition, aws.region) = ("aws-eusc".to_owned(), "eusc-de-east-1".to_owned());
    assert_eq!(aws.service_url("logs"), "https://logs.eusc-de-east-1.amazonaws.eu/");
}

#[test]
fn pauses_grow_and_are_bounded() {
    let pause =
        |attempt, random| Duration::from_millis(RETRY_BACKOFF.full_jitter_ms(attempt, random));
    assert_eq!(pause(1, FIRST_PAUSE_MS), Duration::from_millis(FIRST_PAUSE_MS));
    assert_eq!(pause(1, FIRST_PAUSE_MS + 1), Duration::ZERO);
    assert_eq!(pause(3, 4 * FIRST_PAUSE_MS), Duration::from_millis(4 * FIRST_PAUSE_MS));
    assert!(pause(u32::MAX, u64::MAX) <= Duration::from_millis(FIRST_PAUSE_MS << ATTEMPTS_MAX));
}
