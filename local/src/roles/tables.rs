//! Access requests for DynamoDB operations.
//!
//! A transaction requires permission for each action that it contains. The condition key
//! `dynamodb:Attributes` lists the top-level attributes in the item, key and expressions of a
//! request.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::HeaderMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::access_request::{AccessRequest, ConditionKey};
use super::expression::top_level_attributes;
use crate::aws_json::operation;
use crate::names::table_arn;

/// Prefix of DynamoDB's operation header.
pub(crate) const VERSION: &str = "DynamoDB_20120810.";

/// A JSON object whose keys are attribute names. The attribute values are skipped when parsing.
type AttributeNames = BTreeMap<String, IgnoredAny>;

/// The fields of a DynamoDB request that contain table or attribute names. Includes the fields of
/// all operations, and deprecated fields.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Request {
    table_name: String,
    index_name: Option<String>,
    item: Option<AttributeNames>,
    key: Option<AttributeNames>,
    keys: Vec<AttributeNames>,
    attribute_updates: Option<AttributeNames>,
    expected: Option<AttributeNames>,
    key_conditions: Option<AttributeNames>,
    query_filter: Option<AttributeNames>,
    scan_filter: Option<AttributeNames>,
    attributes_to_get: Vec<String>,
    expression_attribute_names: BTreeMap<String, String>,
    condition_expression: Option<String>,
    filter_expression: Option<String>,
    key_condition_expression: Option<String>,
    projection_expression: Option<String>,
    update_expression: Option<String>,
    transact_items: Vec<BTreeMap<String, Request>>,
    request_items: BTreeMap<String, Batch>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Batch {
    Write(Vec<BTreeMap<String, Request>>),
    Get(Box<Request>),
}

pub(crate) fn access_requests(
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Vec<AccessRequest>, String> {
    let operation = operation(headers, VERSION);
    let request: Request = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let mut access_requests = Vec::new();
    match operation {
        "ListTables" => {
            access_requests.push(AccessRequest::new("dynamodb:ListTables", table_arn("*")));
        }
        "TransactGetItems" | "TransactWriteItems" => {
            for (action, part) in request.transact_items.iter().flatten() {
                let operation = operation_in_transaction(action);
                access_requests.push(part.to_access_request(operation, &part.table_name));
            }
        }
        "BatchGetItem" | "BatchWriteItem" => {
            for (table, batch) in &request.request_items {
                access_requests.extend(batch.access_requests(operation, table));
            }
        }
        operation => {
            access_requests.push(request.to_access_request(operation, &request.table_name));
        }
    }
    Ok(access_requests)
}

/// Returns the operation name for an action in a transaction, such as `PutItem` for `Put`.
fn operation_in_transaction(action: &str) -> &str {
    match action {
        "ConditionCheck" => "ConditionCheckItem",
        "Delete" => "DeleteItem",
        "Get" => "GetItem",
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        other => other,
    }
}

impl Batch {
    fn access_requests(&self, operation: &str, table: &str) -> Vec<AccessRequest> {
        match self {
            Self::Write(writes) => writes
                .iter()
                .flat_map(BTreeMap::values)
                .map(|write| write.to_access_request(operation, table))
                .collect(),
            Self::Get(request) => vec![request.to_access_request(operation, table)],
        }
    }
}

impl Request {
    fn to_access_request(&self, operation: &str, table: &str) -> AccessRequest {
        // A request may identify a table by its ARN.
        let table_name = match table.rsplit_once(":table/") {
            Some((_, table_name)) => table_name,
            None => table,
        };
        let mut resource_arn = table_arn(table_name);
        if let Some(index_name) = &self.index_name {
            resource_arn.push_str("/index/");
            resource_arn.push_str(index_name);
        }
        let attributes = self.attribute_names().into_iter().collect();
        AccessRequest::new(format!("dynamodb:{operation}"), resource_arn)
            .with_key(ConditionKey::Attributes, attributes)
    }

    fn attribute_names(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = self.attributes_to_get.iter().cloned().collect();
        let attribute_maps = [
            &self.item,
            &self.key,
            &self.attribute_updates,
            &self.expected,
            &self.key_conditions,
            &self.query_filter,
            &self.scan_filter,
        ];
        for attribute_map in attribute_maps.into_iter().flatten().chain(&self.keys) {
            names.extend(attribute_map.keys().cloned());
        }
        let expressions = [
            &self.condition_expression,
            &self.filter_expression,
            &self.key_condition_expression,
            &self.projection_expression,
            &self.update_expression,
        ];
        for expression in expressions.into_iter().flatten() {
            names.extend(top_level_attributes(expression, &self.expression_attribute_names));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use axum::http::HeaderValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::aws_json::TARGET;

    fn requests_of(operation: &str, body: Value) -> Result<Vec<AccessRequest>, String> {
        let target = HeaderValue::from_str(&format!("{VERSION}{operation}")).unwrap();
        let headers = HeaderMap::from_iter([(TARGET.parse().unwrap(), target)]);
        access_requests(&headers, body.to_string().as_bytes())
    }

    fn ask(action: &str, table: &str, attributes: &[&str]) -> AccessRequest {
        let attributes = attributes.iter().map(|name| (*name).to_owned()).collect();
        AccessRequest::new(format!("dynamodb:{action}"), table_arn(table))
            .with_key(ConditionKey::Attributes, attributes)
    }

    #[test]
    fn collects_attributes_of_item_key_and_expressions() {
        let put = json!({
            "TableName": "T", "Item": { "S": { "B": "" }, "N": { "M": { "inner": {} } } },
            "ConditionExpression": "attribute_not_exists(#e)",
            "ExpressionAttributeNames": { "#e": "E" }, "ReturnValues": "NONE",
        });
        let expected = [ask("PutItem", "T", &["E", "N", "S"])];
        assert_eq!(requests_of("PutItem", put).unwrap(), expected);
        let update = json!({
            "TableName": "arn:aws:dynamodb:r:0:table/T", "Key": { "S": {}, "N": {} },
            "UpdateExpression": "SET #e = :e", "ExpressionAttributeNames": { "#e": "E" },
        });
        assert_eq!(
            requests_of("UpdateItem", update).unwrap(),
            [ask("UpdateItem", "T", &["E", "N", "S"])]
        );
        let query = json!({
            "TableName": "T", "IndexName": "I", "KeyConditionExpression": "S = :s",
            "FilterExpression": "F = :f", "ProjectionExpression": "P, Q.r",
        });
        let on_index = ask("Query", "T/index/I", &["F", "P", "Q", "S"]);
        assert_eq!(requests_of("Query", query).unwrap(), [on_index]);
        let old = json!({
            "TableName": "T", "Key": { "S": {} }, "AttributeUpdates": { "A": {} },
            "Expected": { "B": {} }, "AttributesToGet": ["C"], "KeyConditions": { "D": {} },
            "QueryFilter": { "E": {} }, "ScanFilter": { "F": {} },
        });
        let all = ask("UpdateItem", "T", &["A", "B", "C", "D", "E", "F", "S"]);
        assert_eq!(requests_of("UpdateItem", old).unwrap(), [all]);
    }

    #[test]
    fn a_transaction_has_one_request_per_action() {
        let write = json!({ "TransactItems": [
            { "Put": { "TableName": "A", "Item": { "S": {} } } },
            { "Update": { "TableName": "B", "Key": { "S": {} }, "UpdateExpression": "SET E = :e" } },
            { "Delete": { "TableName": "C", "Key": { "S": {} } } },
            { "ConditionCheck": { "TableName": "D", "Key": { "S": {} } } },
        ] });
        let expected = [
            ask("PutItem", "A", &["S"]),
            ask("UpdateItem", "B", &["E", "S"]),
            ask("DeleteItem", "C", &["S"]),
            ask("ConditionCheckItem", "D", &["S"]),
        ];
        assert_eq!(requests_of("TransactWriteItems", write).unwrap(), expected);
        let get = json!({ "TransactItems": [{ "Get": { "TableName": "A", "Key": { "S": {} } } }] });
        assert_eq!(requests_of("TransactGetItems", get).unwrap(), [ask("GetItem", "A", &["S"])]);
    }

    #[test]
    fn a_batch_has_one_request_per_table_or_write() {
        let get = json!({ "RequestItems": {
            "A": { "Keys": [{ "S": {} }, { "S": {} }] },
            "B": { "Keys": [{ "S": {} }], "ProjectionExpression": "P" },
        } });
        let expected = [ask("BatchGetItem", "A", &["S"]), ask("BatchGetItem", "B", &["P", "S"])];
        assert_eq!(requests_of("BatchGetItem", get).unwrap(), expected);
        let write = json!({ "RequestItems": { "A": [
            { "PutRequest": { "Item": { "S": {}, "E": {} } } },
            { "DeleteRequest": { "Key": { "S": {} } } },
        ] } });
        let expected =
            [ask("BatchWriteItem", "A", &["E", "S"]), ask("BatchWriteItem", "A", &["S"])];
        assert_eq!(requests_of("BatchWriteItem", write).unwrap(), expected);
    }

    #[test]
    fn rejects_invalid_requests() {
        for body in
            [json!([1]), json!({ "TableName": 1 }), json!({ "TransactItems": [{ "Put": 1 }] })]
        {
            assert!(requests_of("PutItem", body.clone()).is_err(), "{body}");
        }
        let twice = br#"{"TableName":"A","TableName":"B"}"#;
        assert!(access_requests(&HeaderMap::new(), twice).is_err());
        let list = requests_of("ListTables", json!({})).unwrap();
        assert_eq!(
            list,
            [AccessRequest::new(
                "dynamodb:ListTables",
                "arn:aws:dynamodb:local:000000000000:table/*"
            )]
        );
    }
}
