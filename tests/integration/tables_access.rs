//! Access to the local cloud's tables: only with the secret of its folder, and never from a web
//! page.

use std::fs;
use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use cellar_api::wire::CreateRequest;
use cellar_local::Ports;
use cellar_runtime::dynamodb::client_for_endpoint;
use cellar_tests::cloud::TestCloud;
use serde_json::Value;

/// A signed request.
#[derive(Debug, Clone, Default)]
struct Signed {
    method: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Signed {
    fn with(&self, name: &str, value: &str) -> Self {
        let mut changed = self.without(name);
        changed.headers.push((name.to_owned(), value.to_owned()));
        changed
    }

    fn without(&self, name: &str) -> Self {
        let mut changed = self.clone();
        changed.headers.retain(|(other, _)| other != name);
        changed
    }

    fn header(&self, name: &str) -> &str {
        &self.headers.iter().find(|(other, _)| other == name).unwrap().1
    }

    async fn send(&self, url: &str) -> reqwest::Response {
        let mut request = reqwest::Client::new()
            .request(self.method.parse().unwrap(), url)
            .body(self.body.clone());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.send().await.unwrap()
    }
}

/// Stores the last signed request.
#[derive(Debug, Default, Clone)]
struct Kept(Arc<Mutex<Signed>>);

impl Intercept for Kept {
    fn name(&self) -> &'static str {
        "kept"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request();
        let headers = request.headers().iter();
        *self.0.lock().unwrap() = Signed {
            method: request.method().to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: request.body().bytes().unwrap().to_vec(),
        };
        Ok(())
    }
}

/// Returns a successful request of the SDK.
async fn signed(cloud: &TestCloud) -> Signed {
    let kept = Kept::default();
    let config = cloud.dynamodb_client().config().to_builder().interceptor(kept.clone()).build();
    Client::from_conf(config)
        .scan()
        .table_name(&cloud.settings.segment_table)
        .send()
        .await
        .unwrap();
    let signed = kept.0.lock().unwrap().clone();
    let host = cloud.database_url.trim_start_matches("http://");
    signed.with("host", host)
}

async fn assert_refused(request: &Signed, cloud: &TestCloud, kind: &str) {
    let answer = request.send(&cloud.database_url).await;
    assert_eq!(answer.status(), 403, "{request:?}");
    let mut names = answer.headers().keys().map(|name| name.as_str());
    assert!(!names.any(|name| name.starts_with("access-control")), "{:?}", answer.headers());
    assert_eq!(answer.headers()["content-type"], "application/x-amz-json-1.0");
    let error: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert!(error["__type"].as_str().unwrap().ends_with(&format!("#{kind}")), "{error}");
    assert!(error["message"].is_string(), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_web_page_gets_through() {
    let cloud = TestCloud::start().await;
    let signed = signed(&cloud).await;
    assert_eq!(signed.send(&cloud.database_url).await.status(), 200);
    let denied = "AccessDeniedException";
    for origin in ["https://example.com", "null", &cloud.database_url, &cloud.url] {
        assert_refused(&signed.with("origin", origin), &cloud, denied).await;
        let mut preflight = Signed { method: "OPTIONS".to_owned(), ..Signed::default() };
        preflight = preflight.with("origin", origin);
        preflight = preflight.with("access-control-request-method", "POST");
        assert_refused(&preflight, &cloud, denied).await;
    }
    // A web page's own host name that resolves to this machine.
    let port = cloud.database_url.rsplit_once(':').unwrap().1;
    for host in ["example.com", "127.0.0.1", "127.0.0.1:1", &format!("example.com:{port}")] {
        assert_refused(&signed.with("host", host), &cloud, denied).await;
    }
    let asked = Signed { method: "GET".to_owned(), ..Signed::default() };
    assert_refused(&asked, &cloud, "MissingAuthenticationTokenException").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_signature_of_this_very_request_gets_through() {
    let cloud = TestCloud::start().await;
    let signed = signed(&cloud).await;
    let unsigned = signed.without("authorization");
    assert_refused(&unsigned, &cloud, "MissingAuthenticationTokenException").await;
    let (access_key, _) = &cloud.credentials;
    let authorization = signed.header("authorization");
    assert!(authorization.contains(access_key.as_str()), "{authorization}");
    let other_key = authorization.replace(access_key, "local");
    let other_key = signed.with("authorization", &other_key);
    assert_refused(&other_key, &cloud, "UnrecognizedClientException").await;
    let wrong = "InvalidSignatureException";
    let forged = authorization.rsplit_once('=').unwrap().0.to_owned() + "=" + &"0".repeat(64);
    assert_refused(&signed.with("authorization", &forged), &cloud, wrong).await;
    let other = "DynamoDB_20120810.BatchWriteItem";
    assert_refused(&signed.with("x-amz-target", other), &cloud, wrong).await;
    assert_refused(&signed.with("x-amz-date", "20200101T000000Z"), &cloud, wrong).await;
    // A body of the same length, because the length was already sent.
    let body = String::from_utf8(signed.body.clone()).unwrap();
    let body = body.replace("SegmentTable", "segmenttable").into_bytes();
    assert_ne!(body, signed.body);
    assert_refused(&Signed { body, ..signed.clone() }, &cloud, wrong).await;
    for secret_key in ["", "local", access_key.as_str()] {
        let stranger = client_for_endpoint(&cloud.database_url, access_key, secret_key);
        assert!(stranger.list_tables().send().await.is_err(), "{secret_key}");
    }
    assert_eq!(cloud.dynamodb_client().list_tables().send().await.unwrap().table_names().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_without_credentials_gets_some_at_the_next_start() {
    let cloud = TestCloud::start().await;
    let before = cloud.credentials.clone();
    let request = CreateRequest::new("before".to_owned());
    let created = cloud.client("alice").create(&request).await.unwrap();
    fs::remove_file(cloud.state_path().join("bucket-credentials.json")).unwrap();
    let cloud = cloud.kill_and_start(Ports::default()).await;
    assert!(cloud.client("alice").spreadsheet(created.id).load(None).await.is_ok());
    assert_ne!(cloud.credentials, before);
    let tables = cloud.dynamodb_client().list_tables().send().await.unwrap();
    assert_eq!(tables.table_names().len(), 5);
    let stranger = client_for_endpoint(&cloud.database_url, &before.0, &before.1);
    assert!(stranger.list_tables().send().await.is_err());
}
