//! The `encryption:` section of `cellar.yaml`: a customer-managed KMS key.

use serde::{Deserialize, Serialize};

use super::error::ConfigProblem;
use super::{arn, region};

/// The `encryption` section, which configures encryption at rest. By default, data is encrypted
/// with keys that AWS owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Encryption {
    /// The ARN of a symmetric KMS key that encrypts the tables, bucket, queues, log groups and
    /// alarm topic. Such a key costs $1 a month plus its requests. Without this field, data is
    /// encrypted with keys that AWS owns, which are free.
    pub kms_key_arn: Option<String>,
}

impl Encryption {
    pub fn key(&self) -> Option<&str> {
        self.kms_key_arn.as_deref()
    }

    pub(super) fn find_problem(&self, stack_region: Option<&str>) -> Option<ConfigProblem> {
        let key_arn = self.key()?;
        match arn::parse_arn(key_arn, "kms") {
            Some(key) if is_key_resource(key.resource) => {
                region::find_arn_region_problem("encryption.kms_key_arn", key.region, stack_region)
            }
            _ => Some(ConfigProblem::KmsKeyArn { value: key_arn.to_owned() }),
        }
    }
}

/// Returns whether the resource part of an ARN has the form `key/ID`. Key aliases are rejected
/// because IAM policies cannot use an alias as a resource.
fn is_key_resource(resource: &str) -> bool {
    const MULTI_REGION_ID_CHARS: usize = 32;
    const UUID_GROUP_CHARS: [usize; 5] = [8, 4, 4, 4, 12];
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let Some(key_id) = resource.strip_prefix("key/") else { return false };
    if let Some(multi_region_id) = key_id.strip_prefix("mrk-") {
        return multi_region_id.len() == MULTI_REGION_ID_CHARS && is_hex(multi_region_id);
    }
    let group_chars: Vec<usize> = key_id.split('-').map(str::len).collect();
    group_chars == UUID_GROUP_CHARS && key_id.split('-').all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";

    fn problems(value: &str, region: Option<&str>) -> Vec<ConfigProblem> {
        let encryption = Encryption { kms_key_arn: Some(value.to_owned()) };
        encryption.find_problem(region).into_iter().collect()
    }

    #[test]
    fn only_arns_of_keys_are_accepted() {
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
                "`encryption.kms_key_arn` is in region eu-west-1, but the stack is in eu-west-2: both \
                 must be in the same region"
            ]
        );
    }
}
