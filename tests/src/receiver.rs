//! A webhook receiver that uses real HTTP. The receiver verifies signatures independently of
//! Cellar's code, as specified by the standard.

use std::sync::{Arc, Mutex};

use aws_lc_rs::hmac;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cellar_api::wire::WebhookDelivery;
use tokio::task::JoinHandle;

/// The receiver's response to a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Accepts the delivery.
    Accepted,
    /// Rejects the delivery with the given status code.
    Status(u16),
    /// Redirects the delivery to another path.
    Redirect,
    /// Accepts the delivery, then breaks the connection before responding.
    AcceptedUnheard,
}

/// A received delivery.
#[derive(Debug, Clone)]
pub struct Arrived {
    /// Id of the delivery.
    pub id: String,
    /// Sending time according to the delivery's header, in Unix seconds.
    pub sent_s: String,
    /// The signatures in the delivery's header.
    pub signatures: Vec<String>,
    /// The body of the delivery.
    pub body: String,
    /// Whether the receiver accepted the delivery.
    pub accepted: bool,
}

struct Shared {
    answer: Mutex<Answer>,
    arrived: Mutex<Vec<Arrived>>,
}

/// A running receiver.
pub struct TestReceiver {
    shared: Arc<Shared>,
    url: String,
    served: JoinHandle<()>,
}

impl Drop for TestReceiver {
    fn drop(&mut self) {
        self.served.abort();
    }
}

async fn receive(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: String) -> Response {
    let text = |name: &str| headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(text("content-type"), "application/json");
    let answer = *shared.answer.lock().unwrap();
    let accepted = matches!(answer, Answer::Accepted | Answer::AcceptedUnheard);
    let signatures = text("webhook-signature").split(' ').map(str::to_owned).collect();
    let (id, sent_s) = (text("webhook-id"), text("webhook-timestamp"));
    shared.arrived.lock().unwrap().push(Arrived { id, sent_s, signatures, body, accepted });
    match answer {
        Answer::Accepted => StatusCode::NO_CONTENT.into_response(),
        Answer::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Answer::Redirect => (StatusCode::FOUND, [(header::LOCATION, "/moved")]).into_response(),
        // The panic ends the connection's task and thus breaks the connection.
        Answer::AcceptedUnheard => panic!("as asked"),
    }
}

impl Arrived {
    /// Parses the body.
    pub fn delivery(&self) -> WebhookDelivery {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns whether one of the signatures was made with the given secret.
    pub fn is_signed_by(&self, secret: &str) -> bool {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let signed = format!("{}.{}.{}", self.id, self.sent_s, self.body);
        self.signatures.iter().any(|signature| {
            let tag = STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap();
            hmac::verify(&key, signed.as_bytes(), &tag).is_ok()
        })
    }
}

impl TestReceiver {
    /// Starts a receiver on a free port. Until told otherwise, the receiver accepts all deliveries.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let shared =
            Arc::new(Shared { answer: Mutex::new(Answer::Accepted), arrived: Mutex::default() });
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        let served = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { shared, url, served }
    }

    /// Returns the receiver's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets the response to later deliveries.
    pub fn answers(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }

    /// Returns all deliveries so far, in the order of arrival.
    pub fn arrived(&self) -> Vec<Arrived> {
        self.shared.arrived.lock().unwrap().clone()
    }

    /// Returns the kinds of a stream's accepted events, in order and without repeated deliveries.
    /// Panics if an event arrives before a preceding event.
    pub fn kinds_of(&self, stream: &str) -> Vec<String> {
        let mut kinds = Vec::new();
        for arrived in self.arrived().iter().filter(|arrived| arrived.accepted) {
            for item in arrived.delivery().data.items {
                for span in item.spans.into_iter().filter(|span| span.stream == stream) {
                    let first = usize::try_from(span.first).unwrap();
                    assert!(first <= kinds.len(), "{first} after {kinds:?}");
                    let known = kinds.len() - first;
                    kinds.extend(span.kinds.into_iter().skip(known));
                }
            }
        }
        kinds
    }
}
