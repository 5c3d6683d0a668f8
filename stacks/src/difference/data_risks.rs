//! Finds changes that put data at risk: removed or replaced resources with data, and weakened
//! protection.

use serde_json::Value;

use super::change::ChangeAction;
use super::document::{is_retained, known_type, property, removal_policy};
use super::risk::Risk;

/// Returns whether a resource contains data. A resource of an unknown type is assumed to, if its
/// `DeletionPolicy` preserves the resource or a backup.
pub(super) fn holds_data(resource: &Value) -> bool {
    match known_type(resource) {
        Some(known) => known.holds_data(),
        None => {
            let policy = removal_policy(resource, "DeletionPolicy");
            Preservation::of(policy) > Preservation::Nothing
        }
    }
}

/// Returns the risks of an action on a resource. Resources without data have no risks.
pub(super) fn find_risks(
    action: ChangeAction,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Vec<Risk> {
    let Some(old) = old.filter(|old| holds_data(old)) else { return Vec::new() };
    let Some(new) = new else {
        return vec![Risk::Removed { kept: action == ChangeAction::Abandon }];
    };
    let mut risks = Vec::new();
    // CloudFormation applies the removal policy of the new template.
    let kept = is_retained(removal_policy(new, "UpdateReplacePolicy"));
    match action {
        ChangeAction::Replace => risks.push(Risk::Replaced { certain: true, kept }),
        ChangeAction::MayReplace => risks.push(Risk::Replaced { certain: false, kept }),
        ChangeAction::Add | ChangeAction::Remove | ChangeAction::Abandon | ChangeAction::Update => {
        }
    }
    risks.extend(find_weaker_policies(old, new));
    risks.extend(find_weaker_settings(old, new));
    risks.extend(find_shorter_recovery(old, new));
    risks.extend(find_expiring_items(old, new));
    risks.extend(find_stricter_lifecycle_rules(old, new));
    risks
}

/// Data preserved by a removal policy, in increasing order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Preservation {
    Nothing,
    /// A backup of the resource.
    Backup,
    /// The resource itself.
    Resource,
}

impl Preservation {
    fn of(policy: &str) -> Self {
        match policy {
            // For an existing resource, both policies have the same meaning.
            "Retain" | "RetainExceptOnCreate" => Self::Resource,
            "Snapshot" => Self::Backup,
            _ => Self::Nothing,
        }
    }
}

fn find_weaker_policies(old: &Value, new: &Value) -> Vec<Risk> {
    let mut risks = Vec::new();
    for name in ["DeletionPolicy", "UpdateReplacePolicy"] {
        let (old_policy, new_policy) = (removal_policy(old, name), removal_policy(new, name));
        if Preservation::of(new_policy) < Preservation::of(old_policy) {
            risks.push(weakened(name, old_policy, new_policy));
        }
    }
    risks
}

fn weakened(protection: &str, old: &str, new: &str) -> Risk {
    Risk::Weakened { protection: protection.to_owned(), old: old.to_owned(), new: new.to_owned() }
}

/// Data protection settings, each with its protective value.
const PROTECTIVE_SETTINGS: [(&[&str], &str); 4] = [
    (&["DeletionProtectionEnabled"], "true"),
    (&["PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"], "true"),
    (&["VersioningConfiguration", "Status"], "Enabled"),
    (&["ObjectLockEnabled"], "true"),
];

fn find_weaker_settings(old: &Value, new: &Value) -> Vec<Risk> {
    let mut risks = Vec::new();
    for (path, protective_value) in PROTECTIVE_SETTINGS {
        let (old_value, new_value) = (setting(old, path), setting(new, path));
        if old_value.as_deref() == Some(protective_value)
            && new_value.as_deref() != Some(protective_value)
        {
            let new_value = new_value.as_deref().unwrap_or("absent");
            risks.push(weakened(&path.join("."), protective_value, new_value));
        }
    }
    risks
}

/// Returns a risk if the point-in-time recovery period becomes shorter.
fn find_shorter_recovery(old: &Value, new: &Value) -> Option<Risk> {
    const PATH: [&str; 2] = ["PointInTimeRecoverySpecification", "RecoveryPeriodInDays"];
    /// DynamoDB's default recovery period.
    const DEFAULT_DAYS: f64 = 35.0;
    let recovery_days =
        |resource| property(resource, &PATH).and_then(to_number).unwrap_or(DEFAULT_DAYS);
    let (old_days, new_days) = (recovery_days(old), recovery_days(new));
    if new_days >= old_days {
        return None;
    }
    Some(weakened(&PATH.join("."), &old_days.to_string(), &new_days.to_string()))
}

/// Returns a setting as text, since a template may contain a string instead of a boolean or number.
fn setting(resource: &Value, path: &[&str]) -> Option<String> {
    let value = property(resource, path)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Returns a number, which the template may contain as a string.
fn to_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Returns a risk if time to live is enabled or uses a different attribute than before.
fn find_expiring_items(old: &Value, new: &Value) -> Option<Risk> {
    let old_attribute = time_to_live(old);
    let new_attribute = time_to_live(new)?;
    if old_attribute == Some(new_attribute) {
        return None;
    }
    Some(Risk::Expires { by: "TimeToLiveSpecification".to_owned() })
}

/// Returns the item attribute that contains the expiry time. The outer `None` means that time to
/// live is disabled; the inner `None` means that an invalid template specifies no attribute.
fn time_to_live(table: &Value) -> Option<Option<String>> {
    let enabled = setting(table, &["TimeToLiveSpecification", "Enabled"])?;
    if enabled == "false" {
        return None;
    }
    Some(setting(table, &["TimeToLiveSpecification", "AttributeName"]))
}

/// Returns a risk for each bucket lifecycle rule that deletes more objects than the old rule with
/// the same id, or deletes them earlier.
fn find_stricter_lifecycle_rules(old: &Value, new: &Value) -> Vec<Risk> {
    let old_rules = enabled_rules(old);
    let mut risks = Vec::new();
    for new_rule in enabled_rules(new) {
        let old_rule = old_rules.iter().copied().find(|rule| rule.get("Id") == new_rule.get("Id"));
        if deletes_more(old_rule, new_rule) {
            let name = new_rule.get("Id").and_then(Value::as_str).unwrap_or("without a name");
            risks.push(Risk::Expires { by: format!("the lifecycle rule {name}") });
        }
    }
    risks
}

/// Returns whether a rule deletes objects that the old rule retains, or deletes objects earlier. A
/// malformed number of days is assumed to be earlier.
fn deletes_more(old_rule: Option<&Value>, new_rule: &Value) -> bool {
    let old_deletions = match old_rule {
        Some(old_rule) if scope(old_rule) == scope(new_rule) => deletions(old_rule),
        _ => Vec::new(),
    };
    deletions(new_rule).into_iter().any(|(kind, new_days)| {
        let old_deletion = old_deletions.iter().find(|(old_kind, _)| *old_kind == kind);
        match (old_deletion, new_days) {
            (Some((_, Some(old_days))), Some(new_days)) => new_days < *old_days,
            _ => true,
        }
    })
}

fn enabled_rules(bucket: &Value) -> Vec<&Value> {
    let rules = property(bucket, &["LifecycleConfiguration", "Rules"]);
    let rules = rules.and_then(Value::as_array).into_iter().flatten();
    rules.filter(|rule| rule.get("Status").is_none_or(|status| status != "Disabled")).collect()
}

/// Returns the kinds of deletion that a rule performs, each with its field's value, which is `None`
/// if it is not a number.
fn deletions(rule: &Value) -> Vec<(&'static str, Option<f64>)> {
    const FIELDS: [(&str, &[&str]); 5] = [
        ("current", &["ExpirationInDays"]),
        ("current at a date", &["ExpirationDate"]),
        ("noncurrent", &["NoncurrentVersionExpirationInDays"]),
        ("noncurrent", &["NoncurrentVersionExpiration", "NoncurrentDays"]),
        ("noncurrent over a count", &["NoncurrentVersionExpiration", "NewerNoncurrentVersions"]),
    ];
    let mut found = Vec::new();
    for (kind, path) in FIELDS {
        if let Some(value) = path.iter().try_fold(rule, |value, name| value.get(name)) {
            found.push((kind, to_number(value)));
        }
    }
    found
}

/// Returns the fields that restrict the objects to which a rule applies.
fn scope(rule: &Value) -> [Option<&Value>; 4] {
    ["Prefix", "TagFilters", "ObjectSizeGreaterThan", "ObjectSizeLessThan"]
        .map(|name| rule.get(name))
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
