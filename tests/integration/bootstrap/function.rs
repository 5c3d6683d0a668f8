//! A running Lambda function, and the HTTP API of the Lambda runtime that serves it.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use super::request_event;

/// The server side of the Lambda runtime API: provides events and receives responses.
#[derive(Clone)]
struct Lambda {
    events: Arc<AsyncMutex<mpsc::Receiver<Value>>>,
    answers: mpsc::Sender<Value>,
    count: Arc<Mutex<u32>>,
    first_poll: Arc<OnceLock<Instant>>,
}

async fn next(State(lambda): State<Lambda>) -> (HeaderMap, String) {
    lambda.first_poll.get_or_init(Instant::now);
    let event = lambda.events.lock().await.recv().await.unwrap();
    let id = {
        let mut count = lambda.count.lock().unwrap();
        *count += 1;
        format!("request-{count}")
    };
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(300);
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

/// A running function, and the two ends of its pipe.
pub(super) struct Function {
    pub(super) process: Child,
    events: mpsc::Sender<Value>,
    answers: mpsc::Receiver<Value>,
    /// When the function first asked for an event.
    pub(super) first_poll: Arc<OnceLock<Instant>>,
}

impl Drop for Function {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Function {
    pub(super) async fn start(program: &str, variables: HashMap<&'static str, String>) -> Self {
        Self::start_as(Command::new(program), variables).await
    }

    /// Starts a command that runs the function.
    pub(super) async fn start_as(
        mut command: Command,
        variables: HashMap<&'static str, String>,
    ) -> Self {
        let (events, received) = mpsc::channel(4);
        let (sent, answers) = mpsc::channel(4);
        let (received, count) = (Arc::new(AsyncMutex::new(received)), Arc::default());
        let first_poll = Arc::default();
        let lambda =
            Lambda { events: received, answers: sent, count, first_poll: Arc::clone(&first_poll) };
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answer))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(answer))
            .with_state(lambda);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let process = command
            .env_clear()
            .envs(variables)
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, events, answers, first_poll }
    }

    /// Sends a request as an event of a function URL, and waits for the response.
    pub(super) async fn request(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<&Value>,
    ) -> Value {
        let headers = json!({
            "authorization": format!("Bearer {token}"),
            "content-type": "application/json",
            "host": "abc.lambda-url.eu-central-1.on.aws",
        });
        self.call(request_event(method, path, &headers, body)).await
    }

    /// Sends an event, and waits for the response.
    pub(super) async fn call(&mut self, event: Value) -> Value {
        self.events.send(event).await.unwrap();
        tokio::time::timeout(Duration::from_secs(20), self.answers.recv()).await.unwrap().unwrap()
    }
}
