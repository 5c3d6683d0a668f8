//! Creates the template's tables in the embedded DynamoDB.

use cellar_stacks::template::Template;
use dynoxide::Database;
use serde_json::{Map, Value, json};

use crate::error::LocalError;
use crate::names::Names;

const TABLE: &str = "AWS::DynamoDB::Table";

/// Returns the names of all tables. Returns an error if a table in `existing_names` is missing.
pub(crate) fn create_missing_tables(
    database: &Database,
    template: &Template,
    names: &Names<'_>,
    existing_names: &[String],
) -> Result<Vec<String>, LocalError> {
    for table_name in existing_names {
        if describe_table(database, table_name).is_none() {
            return Err(LocalError::TableMissing { table: table_name.clone() });
        }
    }
    let mut table_names = existing_names.to_vec();
    for (logical_id, resource) in template.resources() {
        if resource.resource_type != TABLE {
            continue;
        }
        let properties = template.resolved_properties(logical_id, names)?.unwrap_or_default();
        let table_name = names.physical_name(logical_id);
        let result = match describe_table(database, &table_name) {
            Some(description) => {
                check_key(&description, &properties, &table_name)?;
                add_missing_stream(database, &description, &properties, &table_name)
            }
            None => create_table(database, &properties, &table_name),
        };
        result.map_err(|why| LocalError::Template { logical_id: logical_id.to_owned(), why })?;
        if !table_names.contains(&table_name) {
            table_names.push(table_name);
        }
    }
    Ok(table_names)
}

fn describe_table(database: &Database, table_name: &str) -> Option<Value> {
    let request = serde_json::from_value(json!({ "TableName": table_name })).ok()?;
    let reply = database.describe_table(request).ok()?;
    serde_json::to_value(reply).ok()?.get("Table").cloned()
}

fn create_table(
    database: &Database,
    properties: &Map<String, Value>,
    table_name: &str,
) -> Result<(), String> {
    let mut request_fields = Map::new();
    request_fields.insert("TableName".to_owned(), table_name.into());
    for property in
        ["KeySchema", "AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled"]
    {
        if let Some(value) = properties.get(property) {
            request_fields.insert(property.to_owned(), value.clone());
        }
    }
    if let Some(stream) = stream_specification(properties) {
        request_fields.insert("StreamSpecification".to_owned(), stream);
    }
    let request =
        serde_json::from_value(Value::Object(request_fields)).map_err(|error| error.to_string())?;
    database.create_table(request).map_err(|error| error.to_string())?;
    Ok(())
}

/// Returns a table's stream specification. Adds the field `StreamEnabled`, which DynamoDB requires
/// but CloudFormation omits.
fn stream_specification(properties: &Map<String, Value>) -> Option<Value> {
    let mut stream = properties.get("StreamSpecification")?.clone();
    stream.as_object_mut()?.insert("StreamEnabled".to_owned(), true.into());
    Some(stream)
}

/// Enables the stream of a table that an earlier version of Cellar created without one.
fn add_missing_stream(
    database: &Database,
    description: &Value,
    properties: &Map<String, Value>,
    table_name: &str,
) -> Result<(), String> {
    let has_stream = description.get("StreamSpecification").is_some_and(|stream| !stream.is_null());
    if has_stream {
        return Ok(());
    }
    let Some(stream) = stream_specification(properties) else { return Ok(()) };
    let request_json = json!({ "TableName": table_name, "StreamSpecification": stream });
    let request = serde_json::from_value(request_json).map_err(|error| error.to_string())?;
    database.update_table(request).map_err(|error| error.to_string())?;
    Ok(())
}

/// Returns an error if the key of an existing table differs from the key in the template. The key
/// of a table cannot be changed.
fn check_key(
    description: &Value,
    properties: &Map<String, Value>,
    table_name: &str,
) -> Result<(), LocalError> {
    for field in ["KeySchema", "AttributeDefinitions"] {
        if sorted_items(description.get(field)) != sorted_items(properties.get(field)) {
            return Err(LocalError::TableDiffers { table: table_name.to_owned() });
        }
    }
    Ok(())
}

fn sorted_items(list: Option<&Value>) -> Vec<String> {
    let Some(items) = list.and_then(Value::as_array) else { return Vec::new() };
    let mut sorted_items: Vec<String> = items.iter().map(ToString::to_string).collect();
    sorted_items.sort();
    sorted_items
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};

    use super::*;

    #[test]
    fn creates_tables_once_and_requires_them_later() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let made = create_missing_tables(&database, &template, &names, &[]).unwrap();
        let all = [
            "cellar-EntryTable",
            "cellar-EventStreamTable",
            "cellar-FeedTable",
            "cellar-PendingSnapshotsTable",
            "cellar-SegmentTable",
        ];
        assert_eq!(made, all);
        assert_eq!(
            create_missing_tables(&database, &template, &names, &made[..1]).unwrap(),
            all,
            "an older folder"
        );
        assert_eq!(create_missing_tables(&database, &template, &names, &made).unwrap(), made);
        for table in &made {
            let request = serde_json::from_value(json!({ "TableName": table })).unwrap();
            let refused = database.delete_table(request).unwrap_err().to_string();
            assert!(refused.contains("protected"), "{refused}");
        }
        let emptied = Database::memory().unwrap();
        let gone = create_missing_tables(&emptied, &template, &names, &made);
        assert!(matches!(gone, Err(LocalError::TableMissing { .. })));
        assert!(
            describe_table(&emptied, "cellar-SegmentTable").is_none(),
            "no table is created then"
        );
    }

    #[test]
    fn adds_a_stream_to_a_table_of_an_earlier_version() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let mut properties =
            template.resolved_properties("EventStreamTable", &names).unwrap().unwrap();
        properties.remove("StreamSpecification");
        create_table(&database, &properties, "cellar-EventStreamTable").unwrap();
        let view = || {
            let table = describe_table(&database, "cellar-EventStreamTable").unwrap();
            table["StreamSpecification"]["StreamViewType"].as_str().map(str::to_owned)
        };
        assert_eq!(view(), None);
        for _ in 0..2 {
            create_missing_tables(&database, &template, &names, &[]).unwrap();
            assert_eq!(view().as_deref(), Some("NEW_IMAGE"));
        }
    }

    #[test]
    fn rejects_a_table_with_another_key() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let other = serde_json::json!({
            "KeySchema": [{ "AttributeName": "X", "KeyType": "HASH" }],
            "AttributeDefinitions": [{ "AttributeName": "X", "AttributeType": "S" }],
            "BillingMode": "PAY_PER_REQUEST",
        });
        create_table(&database, other.as_object().unwrap(), "cellar-EntryTable").unwrap();
        let differs = create_missing_tables(&database, &template, &names, &[]);
        assert!(matches!(differs, Err(LocalError::TableDiffers { .. })));
    }
}
