//! What may become of data: resources that hold some and go, and protection that is weaker than
//! before.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::change::ChangeAction;
use super::document::{keeps, known_type, policy, property};

/// Something that may happen to a customer's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Risk {
    /// What holds the data is not in the template any longer.
    Removed {
        /// Whether it stays in the account, where nobody manages it.
        kept: bool,
    },
    /// Another, empty one takes its place.
    Replaced {
        /// Whether that is sure.
        certain: bool,
        /// Whether the old one stays in the account, where nobody manages it.
        kept: bool,
    },
    /// A protection is weaker or gone.
    Weakened {
        /// Which.
        protection: String,
        /// What it was.
        old: String,
        /// What it will be.
        new: String,
    },
    /// Something is deleted by itself that was kept, or kept for longer.
    Expires {
        /// The rule or setting that deletes.
        by: String,
    },
}

impl fmt::Display for Risk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed { kept: true } => {
                formatter.write_str("it and its data are kept, but no longer managed")
            }
            Self::Removed { kept: false } => formatter.write_str("its data goes with it"),
            Self::Replaced { certain, kept } => {
                let verb = if *certain { "is" } else { "may be" };
                let rest = match kept {
                    true => "the old one and its data are kept, but no longer managed",
                    false => "its data goes with the old one",
                };
                write!(formatter, "it {verb} replaced by an empty one; {rest}")
            }
            Self::Weakened { protection, old, new } => {
                write!(formatter, "its protection is weaker: {protection} was {old}, will be {new}")
            }
            Self::Expires { by } => write!(formatter, "{by} deletes more than before"),
        }
    }
}

/// Whether a resource holds data: its type says so or, of a type that is not known here, whoever
/// wants it to be kept.
pub(super) fn holds_data(resource: &Value) -> bool {
    match known_type(resource) {
        Some(known) => known.holds_data(),
        None => strength(policy(resource, "DeletionPolicy")) > 0,
    }
}

/// The risks of a resource that holds data, by what happens to it.
pub(super) fn risks(action: ChangeAction, old: Option<&Value>, new: Option<&Value>) -> Vec<Risk> {
    let Some(old) = old.filter(|old| holds_data(old)) else { return Vec::new() };
    let Some(new) = new else {
        return vec![Risk::Removed { kept: action == ChangeAction::Abandon }];
    };
    // The policy of the new template is the one that CloudFormation goes by.
    let kept = keeps(policy(new, "UpdateReplacePolicy"));
    let replaced = match action {
        ChangeAction::Replace => Some(Risk::Replaced { certain: true, kept }),
        ChangeAction::MayReplace => Some(Risk::Replaced { certain: false, kept }),
        ChangeAction::Add | ChangeAction::Remove | ChangeAction::Abandon | ChangeAction::Update => {
            None
        }
    };
    replaced
        .into_iter()
        .chain(weaker_policies(old, new))
        .chain(weaker_settings(old, new))
        .chain(expiring(old, new))
        .chain(lifecycle(old, new))
        .collect()
}

/// The more, the more is left of the data.
fn strength(policy: &str) -> u8 {
    match policy {
        // Of what is there already they say the same.
        "Retain" | "RetainExceptOnCreate" => 2,
        "Snapshot" => 1,
        _ => 0,
    }
}

fn weaker_policies(old: &Value, new: &Value) -> impl Iterator<Item = Risk> {
    ["DeletionPolicy", "UpdateReplacePolicy"].into_iter().filter_map(|name| {
        let (old, new) = (policy(old, name), policy(new, name));
        let weakened = || weakened(name, old, new);
        (strength(new) < strength(old)).then(weakened)
    })
}

fn weakened(protection: &str, old: &str, new: &str) -> Risk {
    Risk::Weakened { protection: protection.to_owned(), old: old.to_owned(), new: new.to_owned() }
}

/// Settings that protect as long as they have this value.
const SETTINGS: [(&[&str], &str); 4] = [
    (&["DeletionProtectionEnabled"], "true"),
    (&["PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"], "true"),
    (&["VersioningConfiguration", "Status"], "Enabled"),
    (&["ObjectLockEnabled"], "true"),
];

fn weaker_settings(old: &Value, new: &Value) -> impl Iterator<Item = Risk> {
    SETTINGS
        .into_iter()
        .filter_map(|(path, protecting)| {
            let (was, will) = (setting(old, path), setting(new, path));
            let is_weaker =
                was.as_deref() == Some(protecting) && will.as_deref() != Some(protecting);
            is_weaker
                .then(|| weakened(&path.join("."), protecting, will.as_deref().unwrap_or("absent")))
        })
        .chain(shorter_recovery(old, new))
}

/// Days that point-in-time recovery reaches back; DynamoDB's own figure is 35.
fn shorter_recovery(old: &Value, new: &Value) -> Option<Risk> {
    const PATH: [&str; 2] = ["PointInTimeRecoverySpecification", "RecoveryPeriodInDays"];
    const DEFAULT_DAYS: f64 = 35.0;
    let days = |resource| number(property(resource, &PATH)).unwrap_or(DEFAULT_DAYS);
    let (was, will) = (days(old), days(new));
    (will < was).then(|| weakened(&PATH.join("."), &was.to_string(), &will.to_string()))
}

/// A setting as text, whether it is written as text or not.
fn setting(resource: &Value, path: &[&str]) -> Option<String> {
    property(resource, path).map(scalar_text)
}

fn scalar_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn number(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Items that go at a time of their own.
fn expiring(old: &Value, new: &Value) -> Option<Risk> {
    let live = |resource| {
        let enabled = setting(resource, &["TimeToLiveSpecification", "Enabled"])?;
        (enabled != "false")
            .then(|| setting(resource, &["TimeToLiveSpecification", "AttributeName"]))
    };
    let will = live(new)?;
    (live(old).as_ref() != Some(&will))
        .then(|| Risk::Expires { by: "TimeToLiveSpecification".to_owned() })
}

/// Rules of a bucket's lifecycle that delete more than one of the same name did.
fn lifecycle(old: &Value, new: &Value) -> impl Iterator<Item = Risk> {
    let was = rules(old);
    rules(new).into_iter().filter_map(move |rule| {
        let before = was.iter().find(|before| before.get("Id") == rule.get("Id"));
        let deletes_more = deletions(rule).into_iter().any(|(name, days)| {
            let bound = before.and_then(|before| {
                let found = deletions(before).into_iter().find(|(other, _)| *other == name)?;
                (scope(before) == scope(rule)).then_some(found.1)
            });
            // Days that cannot be read are not said to be more.
            !matches!((bound, days), (Some(Some(was)), Some(will)) if will >= was)
        });
        let name = rule.get("Id").and_then(Value::as_str).unwrap_or("without a name");
        deletes_more.then(|| Risk::Expires { by: format!("the lifecycle rule {name}") })
    })
}

fn rules(bucket: &Value) -> Vec<&Value> {
    let rules = property(bucket, &["LifecycleConfiguration", "Rules"]);
    let rules = rules.and_then(Value::as_array).into_iter().flatten();
    rules.filter(|rule| rule.get("Status").is_none_or(|status| status != "Disabled")).collect()
}

/// What a rule deletes of objects, and after how many days, if that is a number.
fn deletions(rule: &Value) -> Vec<(&'static str, Option<f64>)> {
    const FIELDS: [(&str, &[&str]); 5] = [
        ("current", &["ExpirationInDays"]),
        ("current at a date", &["ExpirationDate"]),
        ("noncurrent", &["NoncurrentVersionExpirationInDays"]),
        ("noncurrent", &["NoncurrentVersionExpiration", "NoncurrentDays"]),
        ("noncurrent but for some", &["NoncurrentVersionExpiration", "NewerNoncurrentVersions"]),
    ];
    FIELDS
        .into_iter()
        .filter_map(|(what, path)| {
            let value = path.iter().try_fold(rule, |value, name| value.get(name))?;
            Some((what, number(Some(value))))
        })
        .collect()
}

/// Which objects a rule is about.
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
        let found = risks(ChangeAction::Update, Some(old), Some(new));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_protection_that_goes_is_named() {
        let old = table(json!({
            "DeletionProtectionEnabled": true,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true},
        }));
        assert_eq!(risks(ChangeAction::Update, Some(&old), Some(&old)), []);
        let mut except = old.clone();
        except["DeletionPolicy"] = json!("RetainExceptOnCreate");
        assert_eq!(risks(ChangeAction::Update, Some(&old), Some(&except)), []);
        let new = json!({"Type": "AWS::DynamoDB::Table", "DeletionPolicy": "Snapshot"});
        assert_eq!(
            texts(&old, &new),
            [
                "its protection is weaker: DeletionPolicy was Retain, will be Snapshot",
                "its protection is weaker: UpdateReplacePolicy was Retain, will be Delete",
                "its protection is weaker: DeletionProtectionEnabled was true, will be absent",
                "its protection is weaker: \
                 PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled was true, will be absent",
            ]
        );
        assert_eq!(texts(&new, &old), Vec::<String>::new(), "more protection is no risk");
    }

    #[test]
    fn protection_as_text_is_protection() {
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
    fn what_goes_and_what_stays_is_said() {
        let old = table(json!({}));
        for (action, wanted) in [
            (ChangeAction::Abandon, "it and its data are kept, but no longer managed"),
            (ChangeAction::Remove, "its data goes with it"),
        ] {
            assert_eq!(risks(action, Some(&old), None)[0].to_string(), wanted);
        }
        let replaced = risks(ChangeAction::Replace, Some(&old), Some(&old));
        assert_eq!(replaced, [Risk::Replaced { certain: true, kept: true }]);
        let replaced = risks(ChangeAction::MayReplace, Some(&old), Some(&old));
        assert_eq!(replaced, [Risk::Replaced { certain: false, kept: true }]);
        let bare = json!({"Type": "AWS::DynamoDB::Table"});
        let replaced = risks(ChangeAction::Replace, Some(&old), Some(&bare));
        assert_eq!(replaced[0], Risk::Replaced { certain: true, kept: false });
    }

    #[test]
    fn what_holds_no_data_has_no_risks() {
        let queue = json!({"Type": "AWS::SQS::Queue"});
        assert_eq!(risks(ChangeAction::Remove, Some(&queue), None), []);
        let guard = json!({"Type": "AWS::S3::BucketPolicy", "DeletionPolicy": "Retain"});
        assert_eq!(risks(ChangeAction::Abandon, Some(&guard), None), []);
        let database = json!({"Type": "AWS::RDS::DBInstance", "DeletionPolicy": "Snapshot"});
        assert_eq!(risks(ChangeAction::Remove, Some(&database), None).len(), 1);
        assert_eq!(risks(ChangeAction::Add, None, Some(&database)), []);
    }

    #[test]
    fn rules_that_delete_more_are_named() {
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
