//! The real Lambda binary, over the Lambda runtime's own HTTP API, with events as a function URL
//! sends them.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::routing::{get, post};
use cellar_core::access::Role;
use cellar_core::environment;
use cellar_tests::cloud::TestCloud;
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

/// Lambda's side: hands out events, takes answers.
#[derive(Clone)]
struct Lambda {
    events: Arc<AsyncMutex<mpsc::Receiver<Value>>>,
    answers: mpsc::Sender<Value>,
    count: Arc<Mutex<u32>>,
}

async fn next(State(lambda): State<Lambda>) -> (HeaderMap, String) {
    let event = lambda.events.lock().await.recv().await.unwrap();
    let id = {
        let mut count = lambda.count.lock().unwrap();
        *count += 1;
        format!("request-{count}")
    };
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(29);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", soon.as_millis().to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:local:0:function:api".into()),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    (headers, event.to_string())
}

async fn answer(State(lambda): State<Lambda>, Path(_): Path<String>, body: String) -> StatusCode {
    lambda.answers.send(serde_json::from_str(&body).unwrap()).await.unwrap();
    StatusCode::ACCEPTED
}

/// A function that runs, and the two ends of its pipe.
struct Function {
    process: Child,
    events: mpsc::Sender<Value>,
    answers: mpsc::Receiver<Value>,
}

impl Drop for Function {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn variables(cloud: &TestCloud) -> HashMap<&'static str, String> {
    let tokens = &cloud.settings.tokens;
    let keys: Vec<Value> =
        tokens.keys.iter().map(|key| json!({"id": key.id, "public_key": key.public_key})).collect();
    HashMap::from([
        (environment::FUNCTION, environment::FUNCTION_API.to_owned()),
        (environment::ENTRY_TABLE, cloud.settings.entry_table.clone()),
        (environment::SEGMENT_TABLE, cloud.settings.segment_table.clone()),
        (environment::BUCKET, cloud.settings.bucket.clone()),
        (environment::REQUEST_TIMEOUT_MS, cloud.settings.request_timeout_ms.to_string()),
        (environment::STACK, cloud.settings.stack.clone()),
        (environment::TOKEN_ISSUER, tokens.issuer.clone()),
        (environment::TOKEN_AUDIENCE, tokens.audience.clone()),
        (environment::TOKEN_KEYS, json!(keys).to_string()),
        ("AWS_ENDPOINT_URL_DYNAMODB", cloud.database_url.clone()),
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ("AWS_LAMBDA_FUNCTION_NAME", "api".to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512".to_owned()),
    ])
}

impl Function {
    async fn start(cloud: &TestCloud) -> Self {
        let (events, received) = mpsc::channel(4);
        let (sent, answers) = mpsc::channel(4);
        let (received, count) = (Arc::new(AsyncMutex::new(received)), Arc::default());
        let lambda = Lambda { events: received, answers: sent, count };
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answer))
            .with_state(lambda);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let process = Command::new(env!("CARGO_BIN_EXE_test-bootstrap"))
            .env_clear()
            .envs(variables(cloud))
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, events, answers }
    }

    /// Sends a request as a function URL would, and waits for the answer.
    async fn request(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<&Value>,
    ) -> Value {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let time = "21/Nov/2026:08:00:00 +0000";
        self.events
            .send(json!({
                "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query,
                "headers": {
                    "authorization": format!("Bearer {token}"),
                    "content-type": "application/json",
                    "host": "abc.lambda-url.eu-central-1.on.aws",
                },
                "requestContext": {
                    "accountId": "anonymous", "apiId": "abc", "stage": "$default", "time": time,
                    "domainName": "abc.lambda-url.eu-central-1.on.aws", "domainPrefix": "abc",
                    "requestId": "1", "routeKey": "$default", "timeEpoch": 1_795_246_133_000_u64,
                    "http": {
                        "method": method, "path": path, "protocol": "HTTP/1.1",
                        "sourceIp": "127.0.0.1", "userAgent": "test",
                    },
                },
                "body": body.map(Value::to_string), "isBase64Encoded": false,
            }))
            .await
            .unwrap();
        tokio::time::timeout(Duration::from_secs(20), self.answers.recv()).await.unwrap().unwrap()
    }
}

fn body_of(answer: &Value) -> Value {
    assert_eq!(answer["isBase64Encoded"], false, "{answer}");
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_serves_the_api_as_a_lambda() {
    let cloud = TestCloud::start().await;
    let mut function = Function::start(&cloud).await;
    let token = cloud.token("alice", Role::Owner);

    let health = function.request("GET", "/v1/health", "", None).await;
    assert_eq!((&health["statusCode"], &body_of(&health)["ok"]), (&json!(200), &json!(true)));

    let nonce = json!({"nonce": "lambda"});
    let created = function.request("POST", "/v1/spreadsheets", &token, Some(&nonce)).await;
    assert_eq!(created["statusCode"], 201, "{created}");
    let (id, epoch) = (body_of(&created)["id"].clone(), body_of(&created)["epoch"].clone());
    let id = id.as_str().unwrap();

    let cells = json!([{"row": 0, "column": 0, "value": "über Lambda"}]);
    let append = json!({
        "client": "c", "epoch": epoch,
        "mutations": [{"id": 1, "base": 0, "op": {"setCells": {"cells": cells}}}],
    });
    let path = format!("/v1/spreadsheets/{id}/entries");
    let appended = function.request("POST", &path, &token, Some(&append)).await;
    assert_eq!(appended["statusCode"], 200, "{appended}");

    let path = format!("/v1/spreadsheets/{id}/cells?range=A1%3AB2&at=1");
    let read = function.request("GET", &path, &token, None).await;
    assert_eq!(body_of(&read)["cells"][0]["value"], "über Lambda", "{read}");

    let missing = function.request("GET", &path.replace(id, "nothing"), &token, None).await;
    assert_eq!(missing["statusCode"], 404);
    assert_eq!(missing["headers"]["content-type"], "application/problem+json");
    assert_eq!(body_of(&missing)["type"], "urn:cellar:problem:not-found");
}

#[test]
fn a_function_without_its_environment_says_what_is_missing() {
    for (function, expected) in
        [("api", environment::TOKEN_KEYS), ("nonsense", "nonsense"), ("", environment::FUNCTION)]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_test-bootstrap"))
            .env_clear()
            .env(environment::FUNCTION, function)
            .output()
            .unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && log.contains(expected), "{log}");
    }
}
