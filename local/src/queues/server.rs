//! Serves the queues over HTTP with the SQS protocol. Supports only `SendMessage`, which commands
//! use to send jobs. Functions receive messages through their event sources.

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
use crate::aws_json::{error_response, json_response, operation};
use crate::error::LocalError;
use crate::roles::{Roles, messages};
use crate::server::ServerThread;

const SERVICE: Service = Service {
    name: "sqs",
    read_access_requests: messages::access_requests,
    denied_status: StatusCode::FORBIDDEN,
};

/// Other SQS parameters cause an error rather than being ignored.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct SendMessage {
    queue_url: String,
    message_body: String,
}

/// Serves the queues on a free port until the returned server is dropped.
pub(crate) fn start(queues: Queues, roles: Arc<Roles>) -> Result<ServerThread, LocalError> {
    let respond = async move |headers: HeaderMap, body: Bytes| {
        handle_request(&queues, operation(&headers, messages::VERSION), &body).await
    };
    serve_guarded("the local SQS", SERVICE, roles, Router::new().fallback(respond))
}

pub(super) async fn handle_request(queues: &Queues, operation: &str, body: &[u8]) -> Response {
    let bad_request =
        |code: &str, message: &str| error_response(StatusCode::BAD_REQUEST, code, message);
    if operation != "SendMessage" {
        let message = format!("the local stack does not support {operation:?}");
        return bad_request("UnknownOperationException", &message);
    }
    let SendMessage { queue_url, message_body } = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) if error.is_data() => {
            return bad_request("InvalidParameterValue", &error.to_string());
        }
        Err(error) => return bad_request("SerializationException", &error.to_string()),
    };
    let Some(queue) = queues.at_url(&queue_url) else {
        return bad_request("QueueDoesNotExist", "The specified queue does not exist.");
    };
    match queue.send_with_id(&message_body).await {
        Ok(message_id) => {
            let reply =
                json!({ "MessageId": message_id, "MD5OfMessageBody": hex_md5(&message_body) });
            json_response(StatusCode::OK, reply.to_string().into_bytes())
        }
        Err(PortError { temporary: false, message, .. }) => {
            bad_request("InvalidMessageContents", &message)
        }
        Err(PortError { message, .. }) => {
            error_response(StatusCode::INTERNAL_SERVER_ERROR, "InternalFailure", &message)
        }
    }
}

fn hex_md5(message_body: &str) -> String {
    let digest = Md5::digest(message_body.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
