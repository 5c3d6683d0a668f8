//! Checks that a table defines the attributes that its keys use, and no other attributes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::constructs::ResourceType;
use crate::stack::error::{SynthesisError, TemplatePart};
use crate::template::{Resource, Template};

/// Returns an error for each table key without an attribute definition, and for each attribute
/// definition that no key uses. CloudFormation rejects such tables.
pub(super) fn find_key_faults(template: &Template) -> Vec<SynthesisError> {
    let tables = template
        .resources
        .iter()
        .filter(|(_, resource)| resource.resource_type == ResourceType::Table.name());
    tables.flat_map(|(logical_id, table)| find_key_faults_of_table(logical_id, table)).collect()
}

fn find_key_faults_of_table(logical_id: &str, table: &Resource) -> Vec<SynthesisError> {
    let template_part = TemplatePart::new(logical_id, &table.resource_type);
    let key_names = attribute_names(table, "KeySchema");
    let defined_names = attribute_names(table, "AttributeDefinitions");
    let mut faults = Vec::new();
    for name in key_names.difference(&defined_names) {
        let (template_part, attribute) = (template_part.clone(), (*name).to_owned());
        faults.push(SynthesisError::UndefinedKey { template_part, attribute });
    }
    for name in defined_names.difference(&key_names) {
        let (template_part, attribute) = (template_part.clone(), (*name).to_owned());
        faults.push(SynthesisError::UnusedAttribute { template_part, attribute });
    }
    faults
}

fn attribute_names<'a>(table: &'a Resource, property: &str) -> BTreeSet<&'a str> {
    let items = table.properties.get(property).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.get("AttributeName")?.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use crate::constructs::{AttributeType, Table};
    use crate::stack::Stack;

    fn faults(table: Table) -> String {
        let mut stack = Stack::new("test");
        stack.add("Orders", table).unwrap();
        stack.synthesize().map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    #[test]
    fn keys_and_definitions_must_match() {
        let table = Table::new("id").attribute("id", AttributeType::String);
        assert_eq!(faults(table.clone()), "");
        assert_eq!(
            faults(table.clone().sort_key("at")),
            "`Orders` (AWS::DynamoDB::Table): the key `at` has no attribute definition; add \
             `.attribute(\"at\", …)`"
        );
        assert_eq!(
            faults(table.attribute("at", AttributeType::Number)),
            "`Orders` (AWS::DynamoDB::Table): the attribute `at` is defined but no key uses it, \
             which DynamoDB rejects; remove the definition"
        );
    }
}
