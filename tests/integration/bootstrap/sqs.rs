//! A server that receives the SQS requests of the Lambda binary.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::{Value, json};

pub(super) const JOBS_URL: &str = "https://sqs.eu-central-1.amazonaws.com/0/jobs";
pub(super) const DEAD_LETTERS_URL: &str = "https://sqs.eu-central-1.amazonaws.com/0/dead";

/// An SQS that stores messages or does not reply.
#[derive(Clone, Default)]
pub(super) struct Sqs {
    sent: Arc<Mutex<Vec<Value>>>,
    pub(super) down: Arc<AtomicBool>,
}

async fn send_message(
    State(sqs): State<Sqs>,
    headers: HeaderMap,
    body: String,
) -> Result<String, StatusCode> {
    if headers["x-amz-target"] == "AmazonSQS.ChangeMessageVisibility" {
        return Ok("{}".to_owned());
    }
    assert_eq!(headers["x-amz-target"], "AmazonSQS.SendMessage");
    if sqs.down.load(Ordering::SeqCst) {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    sqs.sent.lock().unwrap().push(serde_json::from_str(&body).unwrap());
    Ok(json!({"MessageId": "1"}).to_string())
}

impl Sqs {
    /// Takes the bodies of the messages that were sent to a queue.
    pub(super) fn take_sent(&self, queue_url: &str) -> Vec<Value> {
        let mut sent = self.sent.lock().unwrap();
        let taken = sent.extract_if(.., |message| message["QueueUrl"] == queue_url);
        let body = |message: Value| message["MessageBody"].as_str().unwrap().to_owned();
        taken.map(|message| serde_json::from_str(&body(message)).unwrap()).collect()
    }

    pub(super) async fn start(&self) -> String {
        let router = Router::new().route("/", post(send_message)).with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        url
    }
}
