//! DynamoDB operations supported by the local stack.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cellar_runtime::STORAGE_FULL_CODE;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DurableDatabase, OperationKind};
use crate::aws_json::{error_response, json_response, operation};
use crate::disk_space;
use crate::roles::tables::VERSION;

/// Operations that change nothing.
const READS: [&str; 7] =
    ["BatchGetItem", "DescribeTable", "GetItem", "ListTables", "Query", "Scan", "TransactGetItems"];

type OperationResult = Result<Vec<u8>, DynoxideError>;

/// The response depends only on data that is on disk.
pub(super) async fn handle_request(
    database: &DurableDatabase,
    headers: &HeaderMap,
    body: &Bytes,
) -> Response {
    let operation = operation(headers, VERSION);
    let kind = if READS.contains(&operation) { OperationKind::Read } else { OperationKind::Write };
    let performed =
        database.run(kind, |database| perform_operation(database, operation, body)).await;
    let result = performed.unwrap_or_else(|error| {
        tracing::error!(%error, "the database cannot be used");
        Some(Err(DynoxideError::InternalServerError(error.to_string())))
    });
    match result {
        Some(Ok(json)) => json_response(StatusCode::OK, json),
        Some(Err(error)) if disk_space::is_database_full(&error) => {
            tracing::error!(%error, "the disk is full");
            let status = StatusCode::INSUFFICIENT_STORAGE;
            error_response(status, STORAGE_FULL_CODE, disk_space::FULL_MESSAGE)
        }
        Some(Err(error)) => {
            let status = StatusCode::from_u16(error.status_code())
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            json_response(status, error.to_json().into_bytes())
        }
        None => {
            let message = format!("the local stack does not support {operation:?}");
            error_response(StatusCode::BAD_REQUEST, "UnknownOperationException", &message)
        }
    }
}

/// Performs an operation that accesses items or describes tables. Returns `None` for all other
/// operations. Operations that create, change or delete tables are not supported, because the
/// template defines the tables.
fn perform_operation(database: &Database, operation: &str, body: &[u8]) -> Option<OperationResult> {
    let result = match operation {
        "BatchGetItem" => parse_and_perform(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => parse_and_perform(body, |request| database.batch_write_item(request)),
        "DeleteItem" => parse_and_perform(body, |request| database.delete_item(request)),
        "DescribeTable" => parse_and_perform(body, |request| database.describe_table(request)),
        "GetItem" => parse_and_perform(body, |request| database.get_item(request)),
        "ListTables" => parse_and_perform(body, |request| database.list_tables(request)),
        "PutItem" => parse_and_perform(body, |request| database.put_item(request)),
        "Query" => parse_and_perform(body, |request| database.query(request)),
        "Scan" => parse_and_perform(body, |request| database.scan(request)),
        "TransactGetItems" => {
            parse_and_perform(body, |request| database.transact_get_items(request))
        }
        "TransactWriteItems" => {
            parse_and_perform(body, |request| database.transact_write_items(request))
        }
        "UpdateItem" => parse_and_perform(body, |request| database.update_item(request)),
        _ => return None,
    };
    Some(result)
}

fn parse_and_perform<Q: DeserializeOwned, R: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> OperationResult {
    let request = serde_json::from_slice(body).map_err(|error| from_json_error(&error))?;
    let response = operation(request)?;
    serde_json::to_vec(&response)
        .map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// Malformed JSON becomes a serialization error; valid JSON that does not match the operation
/// becomes a validation error. dynoxide's messages start with the error type, such as
/// `VALIDATION:`.
fn from_json_error(error: &serde_json::Error) -> DynoxideError {
    let full_message = error.to_string();
    match full_message.split_once(':') {
        Some((kind, message)) if kind.starts_with("SERIALIZATION") => {
            DynoxideError::SerializationException(message.to_owned())
        }
        Some((kind, message)) if kind.starts_with("VALIDATION") => {
            DynoxideError::ValidationException(message.to_owned())
        }
        _ if error.is_data() => DynoxideError::ValidationException(full_message),
        _ => DynoxideError::SerializationException(full_message),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::http::HeaderValue;
    use axum::http::header::CONTENT_TYPE;
    use serde_json::{Value, json};

    use super::*;
    use crate::aws_json::{JSON, TARGET};

    async fn ask(database: &DurableDatabase, target: &str, body: &str) -> (StatusCode, Value) {
        let headers = HeaderMap::from_iter([(
            TARGET.parse().unwrap(),
            HeaderValue::from_str(target).unwrap(),
        )]);
        let answer = handle_request(database, &headers, &Bytes::from(body.to_owned())).await;
        assert_eq!(answer.headers()[CONTENT_TYPE], JSON);
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn database() -> DurableDatabase {
        let database = Database::memory().unwrap();
        let table = json!({
            "TableName": "Table",
            "KeySchema": [{ "AttributeName": "K", "KeyType": "HASH" }],
            "AttributeDefinitions": [{ "AttributeName": "K", "AttributeType": "S" }],
            "BillingMode": "PAY_PER_REQUEST",
        });
        database.create_table(serde_json::from_value(table).unwrap()).unwrap();
        DurableDatabase::in_memory(database)
    }

    #[tokio::test]
    async fn a_failed_condition_returns_the_existing_item() {
        let database = database();
        let put = json!({
            "TableName": "Table",
            "Item": { "K": { "S": "a" } },
            "ConditionExpression": "attribute_not_exists(K)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        });
        let put = put.to_string();
        let (status, _) = ask(&database, "DynamoDB_20120810.PutItem", &put).await;
        assert_eq!(status, StatusCode::OK);
        let (status, refused) = ask(&database, "DynamoDB_20120810.PutItem", &put).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        let kind = refused["__type"].as_str().unwrap();
        assert!(kind.ends_with("#ConditionalCheckFailedException"), "{kind}");
        assert_eq!(refused["Item"], json!({ "K": { "S": "a" } }));
    }

    #[tokio::test]
    async fn rejects_invalid_requests() {
        let database = database();
        let deep = format!(r#"{{"TableName":{}"#, "[".repeat(200_000));
        let deeper = format!(r#"{{"Item":{{"K":{}"#, r#"{"L":["#.repeat(200_000));
        for (target, body, expected) in [
            ("DynamoDB_20120810.GetItem", "", "SerializationException"),
            ("DynamoDB_20120810.GetItem", "{", "SerializationException"),
            ("DynamoDB_20120810.GetItem", &deep, "ValidationException"),
            ("DynamoDB_20120810.PutItem", &deeper, "SerializationException"),
            ("DynamoDB_20120810.GetItem", r#"{"TableName":1}"#, "ValidationException"),
            ("DynamoDB_20120810.GetItem", "{}", "ValidationException"),
            ("DynamoDB_20120810.DeleteTable", r#"{"TableName":"Table"}"#, "UnknownOperation"),
            ("GetItem", "{}", "UnknownOperationException"),
            ("", "{}", "UnknownOperationException"),
        ] {
            let (status, answer) = ask(&database, target, body).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{target} {answer}");
            let kind = answer["__type"].as_str().unwrap();
            assert!(kind.contains(expected), "{target} {answer}");
            let message = answer["message"].as_str().or(answer["Message"].as_str()).unwrap();
            assert!(!message.contains("VALIDATION"), "{message}");
        }
        let (status, _) =
            ask(&database, "DynamoDB_20120810.DescribeTable", r#"{"TableName":"Table"}"#).await;
        assert_eq!(status, StatusCode::OK, "the table is still there");
    }
}
