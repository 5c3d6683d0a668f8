//! Creates the template's tables in the embedded DynamoDB.

use cellar_stacks::template::Template;
use dynoxide::Database;
use serde_json::{Map, Value, json};

use crate::error::LocalError;
use crate::names::Names;

const TABLE: &str = "AWS::DynamoDB::Table";

/// Creates the template's missing tables and checks the existing ones. Returns all table names.
/// Errors if a table in `expected` is missing.
pub(crate) fn create_missing(
    database: &Database,
    template: &Template,
    names: &Names<'_>,
    expected: &[String],
) -> Result<Vec<String>, LocalError> {
    if let Some(missing) = expected.iter().find(|name| describe(database, name).is_none()) {
        return Err(LocalError::TableMissing { table: missing.clone() });
    }
    let mut all = expected.to_vec();
    let tables = template.resources().filter(|(_, resource)| resource.resource_type == TABLE);
    for (logical_id, _) in tables {
        let properties = template.resolved_properties(logical_id, names)?.unwrap_or_default();
        let name = names.physical_name(logical_id);
        let result = match describe(database, &name) {
            Some(existing) => {
                check_key(&existing, &properties, &name)?;
                add_missing_stream(database, &existing, &properties, &name)
            }
            None => create(database, &properties, &name),
        };
        result.map_err(|why| LocalError::Template { logical_id: logical_id.to_owned(), why })?;
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Ok(all)
}

fn describe(database: &Database, name: &str) -> Option<Value> {
    let request = serde_json::from_value(json!({ "TableName": name })).ok()?;
    let reply = database.describe_table(request).ok()?;
    serde_json::to_value(reply).ok()?.get("Table").cloned()
}

fn create(database: &Database, properties: &Map<String, Value>, name: &str) -> Result<(), String> {
    let mut request = Map::new();
    request.insert("TableName".to_owned(), name.into());
    for property in
        ["KeySchema", "AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled"]
    {
        if let Some(value) = properties.get(property) {
            request.insert(property.to_owned(), value.clone());
        }
    }
    if let Some(stream) = stream_specification(properties) {
        request.insert("StreamSpecification".to_owned(), stream);
    }
    let request =
        serde_json::from_value(Value::Object(request)).map_err(|error| error.to_string())?;
    database.create_table(request).map(drop).map_err(|error| error.to_string())
}

/// Returns a table's stream specification, including the field that DynamoDB requires but
/// CloudFormation omits.
fn stream_specification(properties: &Map<String, Value>) -> Option<Value> {
    let mut stream = properties.get("StreamSpecification")?.clone();
    stream.as_object_mut()?.insert("StreamEnabled".to_owned(), true.into());
    Some(stream)
}

/// Enables the stream of a table created without one by an earlier version of Cellar.
fn add_missing_stream(
    database: &Database,
    existing: &Value,
    properties: &Map<String, Value>,
    name: &str,
) -> Result<(), String> {
    let has_stream = existing.get("StreamSpecification").is_some_and(|stream| !stream.is_null());
    if has_stream {
        return Ok(());
    }
    let Some(stream) = stream_specification(properties) else { return Ok(()) };
    let request = json!({ "TableName": name, "StreamSpecification": stream });
    let request = serde_json::from_value(request).map_err(|error| error.to_string())?;
    database.update_table(request).map(drop).map_err(|error| error.to_string())
}

/// Checks that an existing table has the template's key, because a table key cannot be changed.
fn check_key(
    existing: &Value,
    properties: &Map<String, Value>,
    name: &str,
) -> Result<(), LocalError> {
    let same = |field| sorted_items(existing.get(field)) == sorted_items(properties.get(field));
    if same("KeySchema") && same("AttributeDefinitions") {
        return Ok(());
    }
    Err(LocalError::TableDiffers { table: name.to_owned() })
}

fn sorted_items(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    let mut items: Vec<String> = items.into_iter().flatten().map(ToString::to_string).collect();
    items.sort();
    items
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
        let made = create_missing(&database, &template, &names, &[]).unwrap();
        let all = [
            "cellar-EntryTable",
            "cellar-EventStreamTable",
            "cellar-FeedTable",
            "cellar-PendingSnapshotsTable",
            "cellar-SegmentTable",
        ];
        assert_eq!(made, all);
        assert_eq!(
            create_missing(&database, &template, &names, &made[..1]).unwrap(),
            all,
            "an older folder"
        );
        assert_eq!(create_missing(&database, &template, &names, &made).unwrap(), made);
        for table in &made {
            let request = serde_json::from_value(json!({ "TableName": table })).unwrap();
            let refused = database.delete_table(request).unwrap_err().to_string();
            assert!(refused.contains("protected"), "{refused}");
        }
        let emptied = Database::memory().unwrap();
        let gone = create_missing(&emptied, &template, &names, &made);
        assert!(matches!(gone, Err(LocalError::TableMissing { .. })));
        assert!(describe(&emptied, "cellar-SegmentTable").is_none(), "no table is created then");
    }

    #[test]
    fn adds_a_stream_to_a_table_of_an_earlier_version() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let mut properties =
            template.resolved_properties("EventStreamTable", &names).unwrap().unwrap();
        properties.remove("StreamSpecification");
        create(&database, &properties, "cellar-EventStreamTable").unwrap();
        let view = || {
            let table = describe(&database, "cellar-EventStreamTable").unwrap();
            table["StreamSpecification"]["StreamViewType"].as_str().map(str::to_owned)
        };
        assert_eq!(view(), None);
        for _ in 0..2 {
            create_missing(&database, &template, &names, &[]).unwrap();
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
        create(&database, other.as_object().unwrap(), "cellar-EntryTable").unwrap();
        let differs = create_missing(&database, &template, &names, &[]);
        assert!(matches!(differs, Err(LocalError::TableDiffers { .. })));
    }
}
