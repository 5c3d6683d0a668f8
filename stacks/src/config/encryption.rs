//! `encryption:` of `cellar.yaml`: a key of the customer's own.

use serde::{Deserialize, Serialize};

use super::arn;
use super::error::ConfigProblem;

/// With which key data at rest is encrypted. It always is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Encryption {
    /// ARN of a symmetric KMS key for tables, bucket, queues, log groups and the topic of alarms;
    /// absent means keys of AWS, which cost nothing. A key of one's own costs $1 a month and its
    /// requests, also while nobody uses the stack.
    pub kms_key_arn: Option<String>,
}

impl Encryption {
    /// The ARN of the customer's key, if there is one.
    pub fn key(&self) -> Option<&str> {
        self.kms_key_arn.as_deref()
    }

    pub(super) fn check(&self, region: Option<&str>, problems: &mut Vec<ConfigProblem>) {
        let Some(value) = self.key() else { return };
        match arn::of_service(value, "kms").filter(|arn| is_key(arn.resource)) {
            None => problems.push(ConfigProblem::KmsKeyArn { value: value.to_owned() }),
            Some(key) => {
                problems.extend(elsewhere("encryption.kms_key_arn", key.region, region));
            }
        }
    }
}

/// What is wrong with an ARN in another region than the stack's, if that is known.
pub(super) fn elsewhere(
    field: &'static str,
    region: &str,
    of_stack: Option<&str>,
) -> Option<ConfigProblem> {
    let wanted = of_stack.filter(|of_stack| *of_stack != region)?.to_owned();
    Some(ConfigProblem::ArnRegion { field, region: region.to_owned(), wanted })
}

/// `key/` and an id: of a key, not of an alias, since permissions name keys.
fn is_key(resource: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let Some(id) = resource.strip_prefix("key/") else { return false };
    match id.strip_prefix("mrk-") {
        Some(multi_region) => multi_region.len() == 32 && hex(multi_region),
        None => {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            lengths == [8, 4, 4, 4, 12] && id.split('-').all(hex)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";

    fn problems(value: &str, region: Option<&str>) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        let encryption = Encryption { kms_key_arn: Some(value.to_owned()) };
        encryption.check(region, &mut problems);
        problems
    }

    #[test]
    fn keys_are_named_by_the_arn_of_the_key_itself() {
        let multi = format!("arn:aws:kms:eu-west-1:123456789012:key/mrk-{}", "a".repeat(32));
        for value in [KEY, multi.as_str()] {
            assert_eq!(problems(value, None), [], "{value}");
        }
        let ids = ["", "mrk-", "1234", "01234567-89AB-cdef-0123-456789abcdef"];
        let ids = ids.map(|id| format!("arn:aws:kms:eu-west-1:123456789012:key/{id}"));
        let alias = "arn:aws:kms:eu-west-1:123456789012:alias/cellar";
        let others = ["", "alias/aws/s3", alias, &KEY.replace(":kms:", ":s3:")].map(str::to_owned);
        for value in ids.into_iter().chain(others) {
            assert_eq!(problems(&value, None), [ConfigProblem::KmsKeyArn { value: value.clone() }]);
        }
    }

    #[test]
    fn a_key_is_in_the_region_of_the_stack() {
        assert_eq!(problems(KEY, Some("eu-west-1")), []);
        let messages: Vec<_> =
            problems(KEY, Some("eu-west-2")).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "`encryption.kms_key_arn` is in eu-west-1, the stack in eu-west-2: both have to be in \
              one region"
            ]
        );
    }
}
