//! A bucket's lifecycle rules, from the template: what disappears, and when.

use serde::Deserialize;

use super::record::Record;

const DAY_S: u64 = 24 * 60 * 60;
const ENABLED: &str = "Enabled";

/// The rules that delete objects here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lifecycle {
    rules: Vec<Expiry>,
}

/// Objects that disappear some days after they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expiry {
    prefix: String,
    tags: Vec<Tag>,
    after_days: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Tag {
    key: String,
    value: String,
}

/// The property as it is written. What is not named here would not be done, and so is refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Configuration {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Rule {
    #[serde(rename = "Id")]
    _id: Option<String>,
    status: String,
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    tag_filters: Vec<Tag>,
    expiration_in_days: Option<u64>,
    /// Nothing to do: a replaced or deleted object is gone at once here.
    #[serde(rename = "NoncurrentVersionExpiration")]
    _noncurrent: Option<serde::de::IgnoredAny>,
    /// Nothing to do: a deleted object leaves no marker here.
    #[serde(rename = "ExpiredObjectDeleteMarker")]
    _marker: Option<serde::de::IgnoredAny>,
    /// Nothing to do: there are no multipart uploads here, and what an upload that broke off left
    /// behind is removed at the next start.
    #[serde(rename = "AbortIncompleteMultipartUpload")]
    _multipart: Option<serde::de::IgnoredAny>,
}

impl Lifecycle {
    /// Reads the property `LifecycleConfiguration`; without one nothing disappears.
    ///
    /// # Errors
    /// What is wrong with it, or is not done here.
    pub(super) fn read(property: Option<&serde_json::Value>) -> Result<Self, String> {
        let Some(property) = property else { return Ok(Self::default()) };
        let configuration = Configuration::deserialize(property)
            .map_err(|error| format!("its lifecycle rules are not known here: {error}"))?;
        let enabled = configuration.rules.into_iter().filter(|rule| rule.status == ENABLED);
        let expiries = enabled.filter_map(|rule| {
            let (prefix, tags) = (rule.prefix, rule.tag_filters);
            rule.expiration_in_days.map(|after_days| Expiry { prefix, tags, after_days })
        });
        Ok(Self { rules: expiries.collect() })
    }

    /// Whether an object's time is up.
    pub(super) fn is_due(&self, record: &Record, now_s: u64) -> bool {
        self.rules.iter().any(|rule| rule.covers(record) && rule.due_s(record) <= now_s)
    }
}

impl Expiry {
    fn covers(&self, record: &Record) -> bool {
        let has = |tag: &Tag| record.tags.get(&tag.key) == Some(&tag.value);
        record.key.starts_with(&self.prefix) && self.tags.iter().all(has)
    }

    /// As S3 reckons: so many days after it was written, and then at the next midnight (UTC).
    fn due_s(&self, record: &Record) -> u64 {
        let days_s = self.after_days.saturating_mul(DAY_S);
        record.modified_s.saturating_add(days_s).div_ceil(DAY_S).saturating_mul(DAY_S)
    }
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};
    use serde_json::{Value, json};

    use super::super::store::Bucket;
    use super::super::store::tests::{keys, store};
    use super::super::sweep;
    use super::*;

    /// Noon of some day.
    const WRITTEN_S: u64 = 20_000 * DAY_S + DAY_S / 2;

    fn of_the_template() -> Lifecycle {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let bucket = template.resource("Bucket").unwrap();
        Lifecycle::read(bucket.properties.get("LifecycleConfiguration")).unwrap()
    }

    #[test]
    fn uploads_that_stay_pending_disappear_on_the_day_that_s3_would_choose() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        let pending = [("state", "pending")];
        store(&bucket, "pending", b"x", WRITTEN_S, &pending);
        store(&bucket, "pending-later", b"x", WRITTEN_S + DAY_S, &pending);
        store(&bucket, "kept", b"x", WRITTEN_S, &pending);
        store(&bucket, "sheets/1/chunks/unchecked", b"x", WRITTEN_S, &pending);
        store(&bucket, "sheets/1/chunks/kept", b"x", WRITTEN_S, &[]);
        store(&bucket, "never-tagged", b"x", 0, &[]);
        store(&bucket, "other-tag", b"x", 0, &[("state", "done"), ("pending", "state")]);
        assert!(bucket.set_tags("kept", Default::default()).unwrap());
        let rules = of_the_template();
        // Three days, then the next midnight.
        let midnight_s = 20_004 * DAY_S;
        assert_eq!(sweep(&bucket, &rules, midnight_s - 1).unwrap(), 0);
        assert_eq!(sweep(&bucket, &rules, midnight_s).unwrap(), 2);
        let chunk = "sheets/1/chunks/kept";
        assert_eq!(keys(&bucket), ["kept", "never-tagged", "other-tag", "pending-later", chunk]);
        assert_eq!(sweep(&bucket, &rules, u64::MAX).unwrap(), 1);
        drop(bucket);
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        assert_eq!(keys(&bucket), ["kept", "never-tagged", "other-tag", chunk]);
    }

    #[test]
    fn a_rule_that_is_not_known_is_refused_and_a_disabled_one_is_not_applied() {
        let read = |rule: Value| Lifecycle::read(Some(&json!({ "Rules": [rule] })));
        let rule = json!({ "Status": "Enabled", "ExpirationInDays": 1, "Prefix": "tmp/" });
        assert_eq!(read(rule).unwrap().rules.len(), 1);
        let disabled = json!({ "Status": "Disabled", "ExpirationInDays": 1 });
        assert_eq!(read(disabled).unwrap(), Lifecycle::default());
        for rule in [
            json!({ "Status": "Enabled", "ExpirationDate": "2030-01-01" }),
            json!({ "Status": "Enabled", "ExpirationInDays": 1, "ObjectSizeGreaterThan": 1 }),
            json!({ "Status": "Enabled", "Transitions": [] }),
        ] {
            assert!(read(rule.clone()).is_err(), "{rule}");
        }
        assert_eq!(Lifecycle::read(None).unwrap(), Lifecycle::default());
    }

    #[test]
    fn prefixes_limit_a_rule() {
        let rule = json!({ "Status": "Enabled", "ExpirationInDays": 1, "Prefix": "tmp/" });
        let rules = Lifecycle::read(Some(&json!({ "Rules": [rule] }))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        store(&bucket, "tmp/a", b"x", 0, &[]);
        store(&bucket, "tmp", b"x", 0, &[]);
        assert_eq!(sweep(&bucket, &rules, 2 * DAY_S).unwrap(), 1);
        assert_eq!(keys(&bucket), ["tmp"]);
    }
}
