//! Determines which lists in a template AWS treats as sets. Reordering such a list is not a change.

use super::resource_type::ResourceType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Ordered,
    /// Lists are compared as sets: order and duplicates are ignored.
    Set,
    /// Elements with the same value of this key are compared with each other. The key is unique
    /// within a list, and the order of the elements is ignored.
    Keyed(&'static str),
}

/// Returns how lists at `path` in a resource are compared.
///
/// The first segment of `path` is `Properties`, `Metadata` or `DependsOn`. The other segments are
/// property names and keys of list elements. `resource_type` is `None` if this crate has no
/// construct for the type.
pub(crate) fn list_kind(resource_type: Option<ResourceType>, path: &[&str]) -> ListKind {
    if let Some(kind) = policy_list_kind(path) {
        return kind;
    }
    match path {
        ["DependsOn"] | ["Metadata", "cfn-lint", "config", "ignore_checks"] => ListKind::Set,
        ["Metadata", "checkov", "skip"] => ListKind::Keyed("id"),
        ["Properties", "Tags"] => ListKind::Keyed("Key"),
        ["Properties", property_path @ ..] => match resource_type {
            Some(known_type) => property_list_kind(known_type, property_path),
            None => ListKind::Ordered,
        },
        _ => ListKind::Ordered,
    }
}

pub(crate) fn accepts_single_element(path: &[&str]) -> bool {
    path == ["DependsOn"] || policy_list_kind(path).is_some()
}

pub(crate) const POLICY_DOCUMENTS: [&str; 2] = ["PolicyDocument", "AssumeRolePolicyDocument"];

/// Returns `None` if `path` is not a list in a policy document.
fn policy_list_kind(path: &[&str]) -> Option<ListKind> {
    let document_index = path.iter().position(|name| POLICY_DOCUMENTS.contains(name))?;
    match path.get(document_index + 1..)? {
        ["Statement"] => Some(ListKind::Keyed("Sid")),
        ["Statement", _, "Action" | "NotAction" | "Resource" | "NotResource"]
        | ["Statement", _, "Principal" | "NotPrincipal", _]
        | ["Statement", _, "Condition", _, _] => Some(ListKind::Set),
        _ => None,
    }
}

/// In a path pattern, `_` matches the key or index of a list element.
fn property_list_kind(resource_type: ResourceType, path: &[&str]) -> ListKind {
    use ResourceType::{
        Alarm, Bucket, EventSourceMapping, Function, FunctionUrl, QueuePolicy, Role, Table,
    };
    match (resource_type, path) {
        (Alarm, ["AlarmActions" | "InsufficientDataActions" | "OKActions"])
        | (EventSourceMapping, ["FunctionResponseTypes"] | ["FilterCriteria", "Filters"])
        | (Function, ["Architectures"] | ["VpcConfig", "SecurityGroupIds" | "SubnetIds"])
        | (Role, ["ManagedPolicyArns"])
        | (QueuePolicy, ["Queues"]) => ListKind::Set,
        (
            FunctionUrl,
            ["Cors", "AllowHeaders" | "AllowMethods" | "AllowOrigins" | "ExposeHeaders"],
        ) => ListKind::Set,
        (
            Bucket,
            [
                "CorsConfiguration",
                "CorsRules",
                _,
                "AllowedHeaders" | "AllowedMethods" | "AllowedOrigins" | "ExposedHeaders",
            ],
        ) => ListKind::Set,
        (Alarm, ["Dimensions"] | ["Metrics", _, "MetricStat", "Metric", "Dimensions"]) => {
            ListKind::Keyed("Name")
        }
        (Alarm, ["Metrics"]) => ListKind::Keyed("Id"),
        (Table, ["AttributeDefinitions"]) => ListKind::Keyed("AttributeName"),
        (Table, ["GlobalSecondaryIndexes" | "LocalSecondaryIndexes"]) => {
            ListKind::Keyed("IndexName")
        }
        (Role, ["Policies"]) => ListKind::Keyed("PolicyName"),
        (Bucket, ["LifecycleConfiguration", "Rules"]) => ListKind::Keyed("Id"),
        (Bucket, ["LifecycleConfiguration", "Rules", _, "TagFilters"]) => ListKind::Keyed("Key"),
        _ => ListKind::Ordered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_recognized_by_their_path() {
        use ResourceType::{Alarm, Bucket, EventSourceMapping, Function, FunctionUrl, Role, Table};
        for (resource_type, path, wanted) in [
            (Role, "Properties/Policies", ListKind::Keyed("PolicyName")),
            (Role, "Properties/Policies/a/PolicyDocument/Statement", ListKind::Keyed("Sid")),
            (Role, "Properties/Policies/a/PolicyDocument/Statement/b/Action", ListKind::Set),
            (
                Role,
                "Properties/AssumeRolePolicyDocument/Statement/0/Principal/Service",
                ListKind::Set,
            ),
            (Table, "Properties/AttributeDefinitions", ListKind::Keyed("AttributeName")),
            (Table, "Properties/KeySchema", ListKind::Ordered),
            (Table, "Properties/Tags", ListKind::Keyed("Key")),
            (Bucket, "Properties/LifecycleConfiguration/Rules", ListKind::Keyed("Id")),
            (Bucket, "Properties/CorsConfiguration/CorsRules", ListKind::Ordered),
            (Bucket, "Properties/CorsConfiguration/CorsRules/0/AllowedOrigins", ListKind::Set),
            (FunctionUrl, "Properties/Cors/AllowOrigins", ListKind::Set),
            (Function, "Properties/Layers", ListKind::Ordered),
            (EventSourceMapping, "Properties/FilterCriteria/Filters", ListKind::Set),
            (Alarm, "Properties/Dimensions", ListKind::Keyed("Name")),
            (Alarm, "Properties/Metrics", ListKind::Keyed("Id")),
            (Alarm, "DependsOn", ListKind::Set),
            (Alarm, "Metadata/checkov/skip", ListKind::Keyed("id")),
        ] {
            let path: Vec<&str> = path.split('/').collect();
            assert_eq!(list_kind(Some(resource_type), &path), wanted, "{path:?}");
        }
        assert_eq!(list_kind(None, &["Properties", "Policies"]), ListKind::Ordered);
        assert_eq!(list_kind(None, &["Properties", "Tags"]), ListKind::Keyed("Key"));
    }
}
