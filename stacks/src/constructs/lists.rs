//! Which lists of a resource AWS treats as sets: there, another order is no change.

use super::ResourceType;

/// What the order in a list means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// It counts.
    Ordered,
    /// Nothing, and twice is as good as once.
    Set,
    /// Nothing: each element has a name of its own under this key.
    Keyed(&'static str),
}

/// The kind of the list at that path in a resource, from `Properties`, `Metadata` or `DependsOn`
/// on: names of properties and keys of elements. `None` is a type without a construct.
pub(crate) fn list_kind(resource_type: Option<ResourceType>, path: &[&str]) -> ListKind {
    if let Some(kind) = in_policy(path) {
        return kind;
    }
    match path {
        ["DependsOn"] | ["Metadata", "cfn-lint", "config", "ignore_checks"] => ListKind::Set,
        ["Metadata", "checkov", "skip"] => ListKind::Keyed("id"),
        ["Properties", "Tags"] => ListKind::Keyed("Key"),
        ["Properties", path @ ..] => {
            resource_type.map_or(ListKind::Ordered, |resource_type| of_type(resource_type, path))
        }
        _ => ListKind::Ordered,
    }
}

/// Whether a list at that path may be written as its only element.
pub(crate) fn may_be_single(path: &[&str]) -> bool {
    path == ["DependsOn"] || in_policy(path).is_some()
}

/// Properties that hold a policy.
pub(crate) const DOCUMENTS: [&str; 2] = ["PolicyDocument", "AssumeRolePolicyDocument"];

/// Lists in a policy: statements, and what each is about.
fn in_policy(path: &[&str]) -> Option<ListKind> {
    let document = path.iter().position(|name| DOCUMENTS.contains(name))?;
    match path.get(document.saturating_add(1)..)? {
        ["Statement"] => Some(ListKind::Keyed("Sid")),
        ["Statement", _, "Action" | "NotAction" | "Resource" | "NotResource"]
        | ["Statement", _, "Principal" | "NotPrincipal", _]
        | ["Statement", _, "Condition", _, _] => Some(ListKind::Set),
        _ => None,
    }
}

fn of_type(resource_type: ResourceType, path: &[&str]) -> ListKind {
    use ResourceType::{
        Alarm, Bucket, EventSourceMapping, Function, FunctionUrl, QueuePolicy, Role, Table,
    };
    match (resource_type, path) {
        (Alarm, ["AlarmActions" | "InsufficientDataActions" | "OKActions"])
        | (EventSourceMapping, ["FunctionResponseTypes"] | ["FilterCriteria", "Filters"])
        | (Function, ["Architectures"] | ["VpcConfig", "SecurityGroupIds" | "SubnetIds"])
        | (
            FunctionUrl,
            ["Cors", "AllowHeaders" | "AllowMethods" | "AllowOrigins" | "ExposeHeaders"],
        )
        | (Role, ["ManagedPolicyArns"])
        | (QueuePolicy, ["Queues"])
        | (
            Bucket,
            [
                "CorsConfiguration",
                "CorsRules",
                _,
                "AllowedHeaders" | "AllowedMethods" | "AllowedOrigins" | "ExposedHeaders",
            ],
        ) => ListKind::Set,
        (Alarm, ["Dimensions"]) => ListKind::Keyed("Name"),
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
    fn sets_are_known_by_their_place() {
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
