//! Order of keys in serialized templates.

use serde_json::{Map, Value};

const DOCUMENT_LEVEL: usize = 0;
const RESOURCE_LEVEL: usize = 2;

const SECTIONS: [&str; 5] =
    ["AWSTemplateFormatVersion", "Description", "Parameters", "Resources", "Outputs"];
const RESOURCE_FIELDS: [&str; 6] =
    ["Type", "DeletionPolicy", "UpdateReplacePolicy", "DependsOn", "Metadata", "Properties"];

/// Returns the entries of a map at nesting level `level`, in output order.
///
/// The entries are sorted here, because the order of a `serde_json` map depends on a feature that
/// any crate in the build can enable.
pub(super) fn ordered_entries(map: &Map<String, Value>, level: usize) -> Vec<(&String, &Value)> {
    let leading_keys: &[&str] = match level {
        DOCUMENT_LEVEL => &SECTIONS,
        RESOURCE_LEVEL => &RESOURCE_FIELDS,
        _ => &[],
    };
    let rank_of = |key: &str| {
        let leading_rank = leading_keys.iter().position(|leading_key| *leading_key == key);
        leading_rank.unwrap_or(leading_keys.len())
    };
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_cached_key(|(key, _)| (rank_of(key), *key));
    entries
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(value: &Value, level: usize) -> Vec<&String> {
        ordered_entries(value.as_object().unwrap(), level).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn sections_and_resource_fields_are_ordered_and_other_keys_sorted() {
        let document = json!({"Outputs": 1, "Resources": 1, "Description": 1, "Zoo": 1});
        assert_eq!(keys(&document, 0), ["Description", "Resources", "Outputs", "Zoo"]);
        let resource = json!({"Properties": 1, "DependsOn": 1, "Type": 1});
        assert_eq!(keys(&resource, 2), ["Type", "DependsOn", "Properties"]);
        assert_eq!(keys(&resource, 1), ["DependsOn", "Properties", "Type"]);
        assert_eq!(keys(&resource, 3), ["DependsOn", "Properties", "Type"]);
    }
}
