//! Finds changes that put data at risk. Such a change removes or replaces a resource with data, or
//! weakens the protection of the data.

use serde_json::Value;

use super::change::ChangeAction;
use super::document::{is_retained, known_type, property, removal_policy, value_at};
use super::risk::Risk;

/// A resource of an unknown type is assumed to contain data if its `DeletionPolicy` preserves the
/// resource or a backup of it.
pub(super) fn holds_data(resource: &Value) -> bool {
    match known_type(resource) {
        Some(resource_type) => resource_type.holds_data(),
        None => {
            let deletion_policy = removal_policy(resource, "DeletionPolicy");
            Preservation::of(deletion_policy) > Preservation::Nothing
        }
    }
}

/// Returns no risks if the resource contains no data.
pub(super) fn find_risks(
    action: ChangeAction,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Vec<Risk> {
    let Some(old_resource) = old.filter(|old| holds_data(old)) else { return Vec::new() };
    let Some(new_resource) = new else {
        return vec![Risk::Removed { kept: action == ChangeAction::Abandon }];
    };
    let mut risks = Vec::new();
    risks.extend(find_replacement(action, new_resource));
    risks.extend(find_weaker_removal_policies(old_resource, new_resource));
    risks.extend(find_weaker_settings(old_resource, new_resource));
    risks.extend(find_shorter_recovery(old_resource, new_resource));
    risks.extend(find_expiring_items(old_resource, new_resource));
    risks.extend(find_stricter_lifecycle_rules(old_resource, new_resource));
    risks
}

fn find_replacement(action: ChangeAction, new_resource: &Value) -> Option<Risk> {
    // CloudFormation applies the `UpdateReplacePolicy` of the new template, not of the old
    // template.
    let kept = is_retained(removal_policy(new_resource, "UpdateReplacePolicy"));
    match action {
        ChangeAction::Replace => Some(Risk::Replaced { certain: true, kept }),
        ChangeAction::MayReplace => Some(Risk::Replaced { certain: false, kept }),
        ChangeAction::Add | ChangeAction::Remove | ChangeAction::Abandon | ChangeAction::Update => {
            None
        }
    }
}

/// The part of a resource that a removal policy preserves. The variants are in increasing order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Preservation {
    Nothing,
    Backup,
    Resource,
}

impl Preservation {
    fn of(removal_policy: &str) -> Self {
        match removal_policy {
            // These policies differ only if the creation of a resource fails. For an existing
            // resource, they are equivalent.
            "Retain" | "RetainExceptOnCreate" => Self::Resource,
            "Snapshot" => Self::Backup,
            _ => Self::Nothing,
        }
    }
}

fn find_weaker_removal_policies(old: &Value, new: &Value) -> Vec<Risk> {
    let mut risks = Vec::new();
    for policy_name in ["DeletionPolicy", "UpdateReplacePolicy"] {
        let old_policy = removal_policy(old, policy_name);
        let new_policy = removal_policy(new, policy_name);
        if Preservation::of(new_policy) < Preservation::of(old_policy) {
            risks.push(weaker_protection(policy_name, old_policy, new_policy));
        }
    }
    risks
}

fn weaker_protection(protection: &str, old: &str, new: &str) -> Risk {
    Risk::Weakened { protection: protection.to_owned(), old: old.to_owned(), new: new.to_owned() }
}

const PROTECTIVE_SETTINGS: [(&[&str], &str); 4] = [
    (&["DeletionProtectionEnabled"], "true"),
    (&["PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"], "true"),
    (&["VersioningConfiguration", "Status"], "Enabled"),
    (&["ObjectLockEnabled"], "true"),
];

fn find_weaker_settings(old: &Value, new: &Value) -> Vec<Risk> {
    let mut risks = Vec::new();
    for (path, protective_value) in PROTECTIVE_SETTINGS {
        let old_value = setting_text(old, path);
        let new_value = setting_text(new, path);
        let was_protected = old_value.as_deref() == Some(protective_value);
        let is_protected = new_value.as_deref() == Some(protective_value);
        if was_protected && !is_protected {
            let new_value = new_value.as_deref().unwrap_or("absent");
            risks.push(weaker_protection(&path.join("."), protective_value, new_value));
        }
    }
    risks
}

fn find_shorter_recovery(old: &Value, new: &Value) -> Option<Risk> {
    let old_days = recovery_days(old);
    let new_days = recovery_days(new);
    if new_days >= old_days {
        return None;
    }
    let protection = RECOVERY_PERIOD_PATH.join(".");
    Some(weaker_protection(&protection, &old_days.to_string(), &new_days.to_string()))
}

const RECOVERY_PERIOD_PATH: [&str; 2] =
    ["PointInTimeRecoverySpecification", "RecoveryPeriodInDays"];

fn recovery_days(table: &Value) -> f64 {
    /// DynamoDB's default recovery period.
    const DEFAULT_DAYS: f64 = 35.0;
    property(table, &RECOVERY_PERIOD_PATH).and_then(to_number).unwrap_or(DEFAULT_DAYS)
}

/// Returns the value of a setting as a string, because booleans and numbers may be written as
/// strings in a template.
fn setting_text(resource: &Value, path: &[&str]) -> Option<String> {
    let value = property(resource, path)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Numbers may be written as strings in a template.
fn to_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns a risk if time to live is newly enabled, or if the name of its attribute changes.
fn find_expiring_items(old: &Value, new: &Value) -> Option<Risk> {
    let new_time_to_live = TimeToLive::of_table(new);
    if new_time_to_live == TimeToLive::Disabled || new_time_to_live == TimeToLive::of_table(old) {
        return None;
    }
    Some(Risk::Expires { by: "TimeToLiveSpecification".to_owned() })
}

#[derive(PartialEq, Eq)]
enum TimeToLive {
    Disabled,
    /// The name of the attribute that contains the expiry time of an item, or `None` if the
    /// template is invalid.
    Enabled {
        attribute: Option<String>,
    },
}

impl TimeToLive {
    fn of_table(table: &Value) -> Self {
        match setting_text(table, &["TimeToLiveSpecification", "Enabled"]).as_deref() {
            None | Some("false") => Self::Disabled,
            Some(_) => {
                let attribute = setting_text(table, &["TimeToLiveSpecification", "AttributeName"]);
                Self::Enabled { attribute }
            }
        }
    }
}

/// Returns a risk for each lifecycle rule that deletes more objects, or deletes objects earlier,
/// than the old rule with the same id.
fn find_stricter_lifecycle_rules(old: &Value, new: &Value) -> Vec<Risk> {
    let old_rules = enabled_lifecycle_rules(old);
    let mut risks = Vec::new();
    for new_rule in enabled_lifecycle_rules(new) {
        let rule_id = new_rule.get("Id");
        let old_rule = old_rules.iter().copied().find(|old_rule| old_rule.get("Id") == rule_id);
        if deletes_more_objects(old_rule, new_rule) {
            let rule_name = rule_id.and_then(Value::as_str).unwrap_or("without a name");
            risks.push(Risk::Expires { by: format!("the lifecycle rule {rule_name}") });
        }
    }
    risks
}

/// Returns whether a rule deletes objects that the old rule retains, or deletes objects earlier
/// than the old rule. If a number of days is malformed, the result is `true`.
fn deletes_more_objects(old_rule: Option<&Value>, new_rule: &Value) -> bool {
    let old_deletions = match old_rule {
        Some(old_rule) if rule_scope(old_rule) == rule_scope(new_rule) => read_deletions(old_rule),
        _ => Vec::new(),
    };
    read_deletions(new_rule).iter().any(|new_deletion| {
        let same_kind =
            old_deletions.iter().find(|old_deletion| old_deletion.kind == new_deletion.kind);
        same_kind.is_none_or(|old_deletion| new_deletion.is_stricter_than(old_deletion))
    })
}

struct Deletion {
    kind: &'static str,
    /// The age in days at which objects are deleted, or `None` if the rule does not contain a
    /// number.
    after_days: Option<f64>,
}

impl Deletion {
    fn is_stricter_than(&self, other: &Self) -> bool {
        match (self.after_days, other.after_days) {
            (Some(days), Some(other_days)) => days < other_days,
            _ => true,
        }
    }
}

fn enabled_lifecycle_rules(bucket: &Value) -> Vec<&Value> {
    let rules = property(bucket, &["LifecycleConfiguration", "Rules"]).and_then(Value::as_array);
    let is_enabled = |rule: &&Value| rule.get("Status").is_none_or(|status| status != "Disabled");
    rules.into_iter().flatten().filter(is_enabled).collect()
}

fn read_deletions(rule: &Value) -> Vec<Deletion> {
    const KINDS_AND_PATHS: [(&str, &[&str]); 5] = [
        ("current", &["ExpirationInDays"]),
        ("current at a date", &["ExpirationDate"]),
        ("noncurrent", &["NoncurrentVersionExpirationInDays"]),
        ("noncurrent", &["NoncurrentVersionExpiration", "NoncurrentDays"]),
        ("noncurrent over a count", &["NoncurrentVersionExpiration", "NewerNoncurrentVersions"]),
    ];
    let mut deletions = Vec::new();
    for (kind, path) in KINDS_AND_PATHS {
        if let Some(limit) = value_at(rule, path) {
            deletions.push(Deletion { kind, after_days: to_number(limit) });
        }
    }
    deletions
}

fn rule_scope(rule: &Value) -> [Option<&Value>; 4] {
    ["Prefix", "TagFilters", "ObjectSizeGreaterThan", "ObjectSizeLessThan"]
        .map(|field| rule.get(field))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::*;

    fn table(properties: Value) -> Value {
        json!({"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain", "Properties": properties})
    }

    fn bucket(rules: Value) -> Value {
        json!({"Type": "AWS::S3::Bucket",
            "Properties": {"LifecycleConfiguration": {"Rules": rules}}})
    }

    fn texts(old: &Value, new: &Value) -> Vec<String> {
        let found = find_risks(ChangeAction::Update, Some(old), Some(new));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_removed_protection_is_reported() {
        let old = table(json!({
            "DeletionProtectionEnabled": true,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true},
        }));
        assert_eq!(find_risks(ChangeAction::Update, Some(&old), Some(&old)), []);
        let mut except = old.clone();
        except["DeletionPolicy"] = json!("RetainExceptOnCreate");
        assert_eq!(find_risks(ChangeAction::Update, Some(&old), Some(&except)), []);
        let new = json!({"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Snapshot"});
        assert_eq!(
            texts(&old, &new),
            [
                "weaker protection: DeletionPolicy changes from Retain to Snapshot",
                "weaker protection: UpdateReplacePolicy changes from Retain to Delete",
                "weaker protection: DeletionProtectionEnabled changes from true to absent",
                "weaker protection: \
                 PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled changes from true to \
                 absent",
            ]
        );
        assert_eq!(texts(&new, &old), Vec::<String>::new(), "more protection is no risk");
    }

    #[test]
    fn protection_may_be_written_as_text() {
        let (old, new) = (
            table(json!({"DeletionProtectionEnabled": true})),
            table(json!({"DeletionProtectionEnabled": "true"})),
        );
        assert_eq!(texts(&old, &new), Vec::<String>::new());
        let unsure = table(json!({"DeletionProtectionEnabled": {"Ref": "Protect"}}));
        assert_eq!(texts(&old, &unsure).len(), 1, "what is not known may be weaker");
    }

    #[test]
    fn versions_and_recovery_are_protection() {
        let versioned = |status: &str| {
            json!({"Type": "AWS::S3::Bucket",
                "Properties": {"VersioningConfiguration": {"Status": status}}})
        };
        assert_eq!(texts(&versioned("Enabled"), &versioned("Suspended")).len(), 1);
        let days = |days: u32| {
            table(json!({"PointInTimeRecoverySpecification": {"RecoveryPeriodInDays": days}}))
        };
        assert_eq!(texts(&days(35), &days(7)).len(), 1);
        assert_eq!(texts(&days(7), &days(35)), Vec::<String>::new());
        assert_eq!(texts(&table(json!({})), &days(34)).len(), 1);
    }

    #[test]
    fn removal_and_replacement_depend_on_the_policy() {
        let old = table(json!({}));
        for (action, wanted) in [
            (ChangeAction::Abandon, "the resource and its data are kept, but no longer managed"),
            (ChangeAction::Remove, "the resource and its data are deleted"),
        ] {
            assert_eq!(find_risks(action, Some(&old), None)[0].to_string(), wanted);
        }
        let replaced = find_risks(ChangeAction::Replace, Some(&old), Some(&old));
        assert_eq!(replaced, [Risk::Replaced { certain: true, kept: true }]);
        let replaced = find_risks(ChangeAction::MayReplace, Some(&old), Some(&old));
        assert_eq!(replaced, [Risk::Replaced { certain: false, kept: true }]);
        let bare = json!({"Type": "AWS::DynamoDB::Table"});
        let replaced = find_risks(ChangeAction::Replace, Some(&old), Some(&bare));
        assert_eq!(replaced[0], Risk::Replaced { certain: true, kept: false });
    }

    #[test]
    fn resources_without_data_have_no_risks() {
        let queue = json!({"Type": "AWS::SQS::Queue"});
        assert_eq!(find_risks(ChangeAction::Remove, Some(&queue), None), []);
        let guard = json!({"Type": "AWS::S3::BucketPolicy", "DeletionPolicy": "Retain"});
        assert_eq!(find_risks(ChangeAction::Abandon, Some(&guard), None), []);
        let database = json!({"Type": "AWS::RDS::DBInstance", "DeletionPolicy": "Snapshot"});
        assert_eq!(find_risks(ChangeAction::Remove, Some(&database), None).len(), 1);
        assert_eq!(find_risks(ChangeAction::Add, None, Some(&database)), []);
    }

    #[test]
    fn lifecycle_rules_that_delete_more_are_reported() {
        let rule = |days: u32| json!([{"Id": "r", "Status": "Enabled", "ExpirationInDays": days}]);
        let more = ["the lifecycle rule r deletes more than before"];
        assert_eq!(texts(&bucket(rule(3)), &bucket(rule(2))), more);
        assert_eq!(texts(&bucket(rule(2)), &bucket(rule(3))), Vec::<String>::new());
        assert_eq!(texts(&bucket(json!([])), &bucket(rule(3))), more);
        let tagged = json!([{"Id": "r", "Status": "Enabled", "ExpirationInDays": 3,
            "TagFilters": [{"Key": "k", "Value": "v"}]}]);
        assert_eq!(texts(&bucket(tagged.clone()), &bucket(rule(3))), more, "of all objects now");
        assert_eq!(texts(&bucket(tagged.clone()), &bucket(tagged)), Vec::<String>::new());
        let off = json!([{"Id": "r", "Status": "Disabled", "ExpirationInDays": 1}]);
        assert_eq!(texts(&bucket(rule(3)), &bucket(off.clone())), Vec::<String>::new());
        assert_eq!(texts(&bucket(off), &bucket(rule(3))), more);
        let parts = json!([{"Id": "p", "Status": "Enabled",
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}]);
        assert_eq!(texts(&bucket(json!([])), &bucket(parts)), Vec::<String>::new());
    }

    #[test]
    fn items_that_begin_to_expire_are_a_risk() {
        let live = |name: &str, enabled: bool| {
            table(json!({"TimeToLiveSpecification": {"AttributeName": name, "Enabled": enabled}}))
        };
        assert_eq!(texts(&table(json!({})), &live("a", true)).len(), 1);
        assert_eq!(texts(&live("a", false), &live("a", true)).len(), 1);
        assert_eq!(texts(&live("a", true), &live("b", true)).len(), 1);
        assert_eq!(texts(&live("a", true), &live("a", true)), Vec::<String>::new());
        assert_eq!(texts(&live("a", true), &live("a", false)), Vec::<String>::new());
    }
}
