//! What a request to DynamoDB asks for, as policies see it.
//!
//! A transaction is the actions that it consists of, each on its table. `dynamodb:Attributes` are the
//! top-level attributes that the request names: those of its item, of its key and of its expressions.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::HeaderMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ask::{Ask, ConditionKey};
use super::expression::attributes;
use crate::aws_json::operation;
use crate::names::table_arn;

/// What the targets of DynamoDB begin with.
pub(crate) const VERSION: &str = "DynamoDB_20120810.";

/// Names of attributes; their values are skipped.
type Names = BTreeMap<String, IgnoredAny>;

/// The fields of all operations that name tables and attributes, also of those that have become rare.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Request {
    table_name: String,
    index_name: Option<String>,
    item: Option<Names>,
    key: Option<Names>,
    keys: Vec<Names>,
    attribute_updates: Option<Names>,
    expected: Option<Names>,
    key_conditions: Option<Names>,
    query_filter: Option<Names>,
    scan_filter: Option<Names>,
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

/// What a batch does with one table.
#[derive(Deserialize)]
#[serde(untagged)]
enum Batch {
    Write(Vec<BTreeMap<String, Request>>),
    Get(Box<Request>),
}

/// What a request asks for; an error says why it cannot be read.
pub(crate) fn asks(headers: &HeaderMap, body: &[u8]) -> Result<Vec<Ask>, String> {
    let operation = operation(headers, VERSION);
    let request: Request = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    Ok(match operation {
        "ListTables" => vec![Ask::new("dynamodb:ListTables", table_arn("*"))],
        "TransactGetItems" | "TransactWriteItems" => {
            let parts = request.transact_items.iter().flatten();
            parts
                .map(|(part, request)| request.ask(transacted(part), &request.table_name))
                .collect()
        }
        "BatchGetItem" | "BatchWriteItem" => {
            let tables = request.request_items.iter();
            tables.flat_map(|(table, batch)| batch.asks(operation, table)).collect()
        }
        operation => vec![request.ask(operation, &request.table_name)],
    })
}

/// The operation that a part of a transaction is.
fn transacted(part: &str) -> &str {
    match part {
        "ConditionCheck" => "ConditionCheckItem",
        "Delete" => "DeleteItem",
        "Get" => "GetItem",
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        other => other,
    }
}

impl Batch {
    fn asks(&self, operation: &str, table: &str) -> Vec<Ask> {
        match self {
            Self::Write(parts) => parts
                .iter()
                .flat_map(BTreeMap::values)
                .map(|one| one.ask(operation, table))
                .collect(),
            Self::Get(request) => vec![request.ask(operation, table)],
        }
    }
}

impl Request {
    fn ask(&self, operation: &str, table: &str) -> Ask {
        // A table may be named by its ARN, too.
        let table = table.rsplit_once(":table/").map_or(table, |(_, name)| name);
        let mut resource = table_arn(table);
        if let Some(index) = &self.index_name {
            resource.push_str("/index/");
            resource.push_str(index);
        }
        let attributes = self.attributes().into_iter().collect();
        Ask::new(format!("dynamodb:{operation}"), resource)
            .with(ConditionKey::Attributes, attributes)
    }

    fn attributes(&self) -> BTreeSet<String> {
        let maps = [
            &self.item,
            &self.key,
            &self.attribute_updates,
            &self.expected,
            &self.key_conditions,
            &self.query_filter,
            &self.scan_filter,
        ];
        let maps = maps.into_iter().flatten().chain(&self.keys).flat_map(BTreeMap::keys);
        let expressions = [
            &self.condition_expression,
            &self.filter_expression,
            &self.key_condition_expression,
            &self.projection_expression,
            &self.update_expression,
        ];
        let expressions = expressions.into_iter().flatten();
        let named = expressions.flat_map(|text| attributes(text, &self.expression_attribute_names));
        maps.chain(&self.attributes_to_get).cloned().chain(named).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use axum::http::HeaderValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::aws_json::TARGET;

    fn asked(operation: &str, body: Value) -> Result<Vec<Ask>, String> {
        let target = HeaderValue::from_str(&format!("{VERSION}{operation}")).unwrap();
        let headers = HeaderMap::from_iter([(TARGET.parse().unwrap(), target)]);
        asks(&headers, body.to_string().as_bytes())
    }

    fn ask(action: &str, table: &str, attributes: &[&str]) -> Ask {
        let attributes = attributes.iter().map(|name| (*name).to_owned()).collect();
        Ask::new(format!("dynamodb:{action}"), table_arn(table))
            .with(ConditionKey::Attributes, attributes)
    }

    #[test]
    fn attributes_are_those_of_the_item_the_key_and_the_expressions() {
        let put = json!({
            "TableName": "T", "Item": { "S": { "B": "" }, "N": { "M": { "inner": {} } } },
            "ConditionExpression": "attribute_not_exists(#e)",
            "ExpressionAttributeNames": { "#e": "E" }, "ReturnValues": "NONE",
        });
        assert_eq!(asked("PutItem", put).unwrap(), [ask("PutItem", "T", &["E", "N", "S"])]);
        let update = json!({
            "TableName": "arn:aws:dynamodb:r:0:table/T", "Key": { "S": {}, "N": {} },
            "UpdateExpression": "SET #e = :e", "ExpressionAttributeNames": { "#e": "E" },
        });
        assert_eq!(
            asked("UpdateItem", update).unwrap(),
            [ask("UpdateItem", "T", &["E", "N", "S"])]
        );
        let query = json!({
            "TableName": "T", "IndexName": "I", "KeyConditionExpression": "S = :s",
            "FilterExpression": "F = :f", "ProjectionExpression": "P, Q.r",
        });
        let on_index = ask("Query", "T/index/I", &["F", "P", "Q", "S"]);
        assert_eq!(asked("Query", query).unwrap(), [on_index]);
        let old = json!({
            "TableName": "T", "Key": { "S": {} }, "AttributeUpdates": { "A": {} },
            "Expected": { "B": {} }, "AttributesToGet": ["C"], "KeyConditions": { "D": {} },
            "QueryFilter": { "E": {} }, "ScanFilter": { "F": {} },
        });
        let all = ask("UpdateItem", "T", &["A", "B", "C", "D", "E", "F", "S"]);
        assert_eq!(asked("UpdateItem", old).unwrap(), [all]);
    }

    #[test]
    fn a_transaction_is_its_parts_each_on_its_table() {
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
        assert_eq!(asked("TransactWriteItems", write).unwrap(), expected);
        let get = json!({ "TransactItems": [{ "Get": { "TableName": "A", "Key": { "S": {} } } }] });
        assert_eq!(asked("TransactGetItems", get).unwrap(), [ask("GetItem", "A", &["S"])]);
    }

    #[test]
    fn a_batch_is_one_action_on_each_table() {
        let get = json!({ "RequestItems": {
            "A": { "Keys": [{ "S": {} }, { "S": {} }] },
            "B": { "Keys": [{ "S": {} }], "ProjectionExpression": "P" },
        } });
        let expected = [ask("BatchGetItem", "A", &["S"]), ask("BatchGetItem", "B", &["P", "S"])];
        assert_eq!(asked("BatchGetItem", get).unwrap(), expected);
        let write = json!({ "RequestItems": { "A": [
            { "PutRequest": { "Item": { "S": {}, "E": {} } } },
            { "DeleteRequest": { "Key": { "S": {} } } },
        ] } });
        let expected =
            [ask("BatchWriteItem", "A", &["E", "S"]), ask("BatchWriteItem", "A", &["S"])];
        assert_eq!(asked("BatchWriteItem", write).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for body in
            [json!([1]), json!({ "TableName": 1 }), json!({ "TransactItems": [{ "Put": 1 }] })]
        {
            assert!(asked("PutItem", body.clone()).is_err(), "{body}");
        }
        let twice = br#"{"TableName":"A","TableName":"B"}"#;
        assert!(asks(&HeaderMap::new(), twice).is_err());
        let list = asked("ListTables", json!({})).unwrap();
        assert_eq!(
            list,
            [Ask::new("dynamodb:ListTables", "arn:aws:dynamodb:local:000000000000:table/*")]
        );
    }
}
