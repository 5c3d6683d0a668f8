//! The template's tables, in the embedded DynamoDB.

use cellar_stacks::template::Template;
use dynoxide::Database;
use serde_json::{Map, Value, json};

use crate::error::LocalError;
use crate::names::Names;

const TABLE: &str = "AWS::DynamoDB::Table";

/// Makes the tables of the template that are not there, and checks those that are; `made` are
/// those that must be there. Gives the names of all.
pub(crate) fn create(
    database: &Database,
    template: &Template,
    names: &Names<'_>,
    made: &[String],
) -> Result<Vec<String>, LocalError> {
    if let Some(gone) = made.iter().find(|name| existing(database, name).is_none()) {
        return Err(LocalError::TableGone { table: gone.clone() });
    }
    let mut all = made.to_vec();
    let tables = template.resources().filter(|(_, resource)| resource.resource_type == TABLE);
    for (logical_id, _) in tables {
        let properties = template.resolved_properties(logical_id, names)?.unwrap_or_default();
        let name = names.physical(logical_id);
        match existing(database, &name) {
            Some(existing) => {
                check(&existing, &properties, &name)?;
                give_stream(database, &existing, &properties, &name).map_err(|why| {
                    LocalError::Template { logical_id: logical_id.to_owned(), why }
                })?;
            }
            None => make(database, &properties, &name)
                .map_err(|why| LocalError::Template { logical_id: logical_id.to_owned(), why })?,
        }
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Ok(all)
}

fn existing(database: &Database, name: &str) -> Option<Value> {
    let request = serde_json::from_value(json!({ "TableName": name })).ok()?;
    let reply = database.describe_table(request).ok()?;
    serde_json::to_value(reply).ok()?.get("Table").cloned()
}

fn make(database: &Database, properties: &Map<String, Value>, name: &str) -> Result<(), String> {
    let mut request = Map::new();
    request.insert("TableName".to_owned(), name.into());
    for property in
        ["KeySchema", "AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled"]
    {
        if let Some(value) = properties.get(property) {
            request.insert(property.to_owned(), value.clone());
        }
    }
    if let Some(stream) = stream(properties) {
        request.insert("StreamSpecification".to_owned(), stream);
    }
    let request =
        serde_json::from_value(Value::Object(request)).map_err(|error| error.to_string())?;
    database.create_table(request).map(drop).map_err(|error| error.to_string())
}

/// The stream that a table is to have. CloudFormation leaves out what DynamoDB wants said.
fn stream(properties: &Map<String, Value>) -> Option<Value> {
    let mut stream = properties.get("StreamSpecification")?.clone();
    stream.as_object_mut()?.insert("StreamEnabled".to_owned(), true.into());
    Some(stream)
}

/// Gives a stream to a table of an earlier Cellar that had none.
fn give_stream(
    database: &Database,
    existing: &Value,
    properties: &Map<String, Value>,
    name: &str,
) -> Result<(), String> {
    let has_one = existing.get("StreamSpecification").is_some_and(|stream| !stream.is_null());
    let (false, Some(stream)) = (has_one, stream(properties)) else { return Ok(()) };
    let request = json!({ "TableName": name, "StreamSpecification": stream });
    let request = serde_json::from_value(request).map_err(|error| error.to_string())?;
    database.update_table(request).map(drop).map_err(|error| error.to_string())
}

/// A key cannot be changed: a table with another one is another table.
fn check(existing: &Value, properties: &Map<String, Value>, name: &str) -> Result<(), LocalError> {
    let same = |field| sorted(existing.get(field)) == sorted(properties.get(field));
    if same("KeySchema") && same("AttributeDefinitions") {
        return Ok(());
    }
    Err(LocalError::TableDiffers { table: name.to_owned() })
}

fn sorted(value: Option<&Value>) -> Vec<String> {
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
    fn tables_are_made_once_and_must_stay() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let made = create(&database, &template, &names, &[]).unwrap();
        let all = [
            "cellar-EntryTable",
            "cellar-EventStreamTable",
            "cellar-FeedTable",
            "cellar-PendingSnapshotsTable",
            "cellar-SegmentTable",
        ];
        assert_eq!(made, all);
        assert_eq!(
            create(&database, &template, &names, &made[..1]).unwrap(),
            all,
            "an older folder"
        );
        assert_eq!(create(&database, &template, &names, &made).unwrap(), made);
        for table in &made {
            let request = serde_json::from_value(json!({ "TableName": table })).unwrap();
            let refused = database.delete_table(request).unwrap_err().to_string();
            assert!(refused.contains("protected"), "{refused}");
        }
        let emptied = Database::memory().unwrap();
        let gone = create(&emptied, &template, &names, &made);
        assert!(matches!(gone, Err(LocalError::TableGone { .. })));
        assert!(existing(&emptied, "cellar-SegmentTable").is_none(), "nothing is made then");
    }

    #[test]
    fn a_table_of_before_there_was_an_indexer_gets_its_stream() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let mut properties =
            template.resolved_properties("EventStreamTable", &names).unwrap().unwrap();
        properties.remove("StreamSpecification");
        make(&database, &properties, "cellar-EventStreamTable").unwrap();
        let view = || {
            let table = existing(&database, "cellar-EventStreamTable").unwrap();
            table["StreamSpecification"]["StreamViewType"].as_str().map(str::to_owned)
        };
        assert_eq!(view(), None);
        for _ in 0..2 {
            create(&database, &template, &names, &[]).unwrap();
            assert_eq!(view().as_deref(), Some("NEW_IMAGE"));
        }
    }

    #[test]
    fn a_table_with_another_key_is_another_table() {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let names = Names { template: &template, stack: "cellar", url: String::new() };
        let database = Database::memory().unwrap();
        let other = serde_json::json!({
            "KeySchema": [{ "AttributeName": "X", "KeyType": "HASH" }],
            "AttributeDefinitions": [{ "AttributeName": "X", "AttributeType": "S" }],
            "BillingMode": "PAY_PER_REQUEST",
        });
        make(&database, other.as_object().unwrap(), "cellar-EntryTable").unwrap();
        let differs = create(&database, &template, &names, &[]);
        assert!(matches!(differs, Err(LocalError::TableDiffers { .. })));
    }
}
