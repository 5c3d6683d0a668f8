//! The order of keys in a written template.

use serde_json::{Map, Value};

/// Level of the document's own keys, and of the keys of a resource.
const DOCUMENT_LEVEL: usize = 0;
const RESOURCE_LEVEL: usize = 2;

const SECTIONS: [&str; 5] =
    ["AWSTemplateFormatVersion", "Description", "Parameters", "Resources", "Outputs"];
const RESOURCE_FIELDS: [&str; 6] =
    ["Type", "DeletionPolicy", "UpdateReplacePolicy", "DependsOn", "Metadata", "Properties"];

/// The entries of a map that lies that many levels deep, in the order in which they are written.
///
/// It sorts by itself: whether `serde_json` keeps maps sorted or in order of insertion depends on
/// a feature that any other crate of the build may switch on.
pub(super) fn ordered(map: &Map<String, Value>, level: usize) -> Vec<(&String, &Value)> {
    let first: &[&str] = match level {
        DOCUMENT_LEVEL => &SECTIONS,
        RESOURCE_LEVEL => &RESOURCE_FIELDS,
        _ => &[],
    };
    let rank = |key: &str| first.iter().position(|name| *name == key).unwrap_or(first.len());
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_cached_key(|(key, _)| (rank(key), *key));
    entries
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(value: &Value, level: usize) -> Vec<&String> {
        ordered(value.as_object().unwrap(), level).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn sections_and_fields_have_their_order_and_the_rest_is_sorted() {
        let document = json!({"Outputs": 1, "Resources": 1, "Description": 1, "Zoo": 1});
        assert_eq!(keys(&document, 0), ["Description", "Resources", "Outputs", "Zoo"]);
        let resource = json!({"Properties": 1, "DependsOn": 1, "Type": 1});
        assert_eq!(keys(&resource, 2), ["Type", "DependsOn", "Properties"]);
        assert_eq!(keys(&resource, 1), ["DependsOn", "Properties", "Type"]);
        assert_eq!(keys(&resource, 3), ["DependsOn", "Properties", "Type"]);
    }
}
