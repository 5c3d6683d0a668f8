//! Lifecycle rules, which define when a bucket's objects expire.

use serde::Deserialize;

use super::record::Record;

const DAY_S: u64 = 24 * 60 * 60;
const ENABLED: &str = "Enabled";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lifecycle {
    rules: Vec<ExpirationRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ExpirationRule {
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

/// Unknown fields cause an error rather than being ignored.
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
    /// Ignored, because the local bucket keeps no old versions of objects. Replaced and deleted
    /// objects are removed immediately.
    #[serde(rename = "NoncurrentVersionExpiration")]
    _noncurrent: Option<serde::de::IgnoredAny>,
    /// Ignored, because the local bucket does not list its delete markers, and forgets them when the
    /// local stack stops.
    #[serde(rename = "ExpiredObjectDeleteMarker")]
    _marker: Option<serde::de::IgnoredAny>,
    /// Ignored, because the local bucket does not support multipart uploads. The files of
    /// interrupted uploads are deleted when the local stack starts again.
    #[serde(rename = "AbortIncompleteMultipartUpload")]
    _multipart: Option<serde::de::IgnoredAny>,
}

impl Lifecycle {
    /// If the property is missing, objects never expire.
    pub(super) fn parse(property: Option<&serde_json::Value>) -> Result<Self, String> {
        let Some(property) = property else { return Ok(Self::default()) };
        let configuration = Configuration::deserialize(property)
            .map_err(|error| format!("LifecycleConfiguration is not supported: {error}"))?;
        let mut rules = Vec::new();
        for rule in configuration.rules {
            if rule.status != ENABLED {
                continue;
            }
            if let Some(after_days) = rule.expiration_in_days {
                let (prefix, tags) = (rule.prefix, rule.tag_filters);
                rules.push(ExpirationRule { prefix, tags, after_days });
            }
        }
        Ok(Self { rules })
    }

    pub(super) fn is_expired(&self, record: &Record, now_s: u64) -> bool {
        self.rules.iter().any(|rule| rule.covers(record) && rule.expires_s(record) <= now_s)
    }
}

impl ExpirationRule {
    fn covers(&self, record: &Record) -> bool {
        let has_tag = |tag: &Tag| record.tags.get(&tag.key) == Some(&tag.value);
        record.key.starts_with(&self.prefix) && self.tags.iter().all(has_tag)
    }

    /// Like in S3, the time is rounded up to the next midnight (UTC).
    fn expires_s(&self, record: &Record) -> u64 {
        let lifetime_s = self.after_days.saturating_mul(DAY_S);
        let end_s = record.modified_s.saturating_add(lifetime_s);
        end_s.div_ceil(DAY_S).saturating_mul(DAY_S)
    }
}

#[cfg(test)]
mod tests {
    use cellar_stacks::{Architecture, Config, cellar_stack};
    use serde_json::{Value, json};

    use super::super::delete_expired_objects;
    use super::super::store::Bucket;
    use super::super::store::tests::{keys, store};
    use super::*;

    /// Noon of a day.
    const WRITTEN_S: u64 = 20_000 * DAY_S + DAY_S / 2;

    fn template_rules() -> Lifecycle {
        let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
        let bucket = template.resource("Bucket").unwrap();
        Lifecycle::parse(bucket.properties.get("LifecycleConfiguration")).unwrap()
    }

    #[test]
    fn pending_uploads_expire_at_midnight_after_three_days() {
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
        let rules = template_rules();
        // The expected expiry time: three days after the writes, rounded up to midnight.
        let midnight_s = 20_004 * DAY_S;
        assert_eq!(delete_expired_objects(&bucket, &rules, midnight_s - 1).unwrap(), 0);
        assert_eq!(delete_expired_objects(&bucket, &rules, midnight_s).unwrap(), 2);
        let chunk = "sheets/1/chunks/kept";
        assert_eq!(keys(&bucket), ["kept", "never-tagged", "other-tag", "pending-later", chunk]);
        assert_eq!(delete_expired_objects(&bucket, &rules, u64::MAX).unwrap(), 1);
        drop(bucket);
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        assert_eq!(keys(&bucket), ["kept", "never-tagged", "other-tag", chunk]);
    }

    #[test]
    fn rejects_unknown_rules_and_ignores_disabled_ones() {
        let parse = |rule: Value| Lifecycle::parse(Some(&json!({ "Rules": [rule] })));
        let rule = json!({ "Status": "Enabled", "ExpirationInDays": 1, "Prefix": "tmp/" });
        assert_eq!(parse(rule).unwrap().rules.len(), 1);
        let disabled = json!({ "Status": "Disabled", "ExpirationInDays": 1 });
        assert_eq!(parse(disabled).unwrap(), Lifecycle::default());
        for rule in [
            json!({ "Status": "Enabled", "ExpirationDate": "2030-01-01" }),
            json!({ "Status": "Enabled", "ExpirationInDays": 1, "ObjectSizeGreaterThan": 1 }),
            json!({ "Status": "Enabled", "Transitions": [] }),
        ] {
            assert!(parse(rule.clone()).is_err(), "{rule}");
        }
        assert_eq!(Lifecycle::parse(None).unwrap(), Lifecycle::default());
    }

    #[test]
    fn prefixes_limit_a_rule() {
        let rule = json!({ "Status": "Enabled", "ExpirationInDays": 1, "Prefix": "tmp/" });
        let rules = Lifecycle::parse(Some(&json!({ "Rules": [rule] }))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(folder.path().to_owned()).unwrap();
        store(&bucket, "tmp/a", b"x", 0, &[]);
        store(&bucket, "tmp", b"x", 0, &[]);
        assert_eq!(delete_expired_objects(&bucket, &rules, 2 * DAY_S).unwrap(), 1);
        assert_eq!(keys(&bucket), ["tmp"]);
    }
}
