//! The queues over HTTP, for commands that send jobs as they would in AWS: SQS's own words, and of its
//! operations the one that is needed. Nobody receives here: functions do, through their sources.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cellar_engine::ports::PortError;
use md5::{Digest as _, Md5};
use serde::Deserialize;
use serde_json::json;

use super::Queues;
use crate::access::{Service, serve_guarded};
use crate::aws_json::{error, operation, reply};
use crate::error::LocalError;
use crate::roles::{Roles, messages};
use crate::server::ServerThread;

const SERVICE: Service =
    Service { name: "sqs", asks: messages::asks, denied: StatusCode::FORBIDDEN };

/// A message to put into a queue; what else SQS knows of one is not done here, and so is refused.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct SendMessage {
    queue_url: String,
    message_body: String,
}

/// Serves the queues on a free port until what is returned is dropped, to whoever may do what he asks for.
pub(crate) async fn start(queues: Queues, roles: Arc<Roles>) -> Result<ServerThread, LocalError> {
    let answer = async move |headers: HeaderMap, body: Bytes| {
        answer(&queues, operation(&headers, messages::VERSION), &body).await
    };
    serve_guarded("the local SQS", SERVICE, roles, Router::new().fallback(answer)).await
}

pub(super) async fn answer(queues: &Queues, operation: &str, body: &[u8]) -> Response {
    let wrong = |kind: &str, why: &str| error(StatusCode::BAD_REQUEST, kind, why);
    if operation != "SendMessage" {
        let why = format!("the local cloud does not answer {operation:?}");
        return wrong("UnknownOperationException", &why);
    }
    let SendMessage { queue_url, message_body } = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) if error.is_data() => {
            return wrong("InvalidParameterValue", &error.to_string());
        }
        Err(error) => return wrong("SerializationException", &error.to_string()),
    };
    let Some(queue) = queues.at(&queue_url) else {
        return wrong("QueueDoesNotExist", "The specified queue does not exist.");
    };
    match queue.put(&message_body).await {
        Ok(id) => {
            let sum = Md5::digest(message_body.as_bytes());
            let sum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            let sent = json!({ "MessageId": id, "MD5OfMessageBody": sum });
            reply(StatusCode::OK, sent.to_string().into_bytes())
        }
        Err(PortError { temporary: false, message }) => wrong("InvalidMessageContents", &message),
        Err(PortError { message, .. }) => {
            error(StatusCode::INTERNAL_SERVER_ERROR, "InternalFailure", &message)
        }
    }
}
