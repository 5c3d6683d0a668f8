//! What the bucket of the bundles is set to: nothing public, TLS only, no parts of uploads that did not
//! end. Set when it is made, and put back where somebody has changed it since.

use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::{
    AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, ExpirationStatus, LifecycleRule,
    LifecycleRuleFilter, PublicAccessBlockConfiguration,
};
use serde_json::{Value, json};

use super::{Aws, AwsError};

/// Days after which parts of an upload that did not end are deleted.
const ABORT_AFTER_DAYS: i32 = 1;
/// What is set, for people, and what setting it is for.
const CLOSED: (&str, &str) =
    ("the block of public access", "block public access to the bucket of the bundles");
const TLS_ONLY: (&str, &str) =
    ("the refusal of what is not TLS", "have the bucket of the bundles take TLS only");
const ABORTED: (&str, &str) =
    ("the end of unfinished uploads", "have unfinished uploads of the bundles deleted");

/// What came of putting settings back.
#[derive(Debug, Default)]
pub(crate) struct PutBack {
    /// What was not as it should be and is again, for people.
    pub(crate) done: Vec<&'static str>,
    /// What is still not, and why.
    pub(crate) failed: Vec<(&'static str, AwsError)>,
}

impl PutBack {
    fn note(&mut self, name: &'static str, result: Result<(), AwsError>) {
        match result {
            Ok(()) => self.done.push(name),
            Err(error) => self.failed.push((name, error)),
        }
    }
}

impl Aws {
    /// Sets a new bucket up.
    pub(super) async fn set_up_bucket(&self, bucket: &str) -> Result<(), AwsError> {
        self.close(bucket).await?;
        self.put_policy(bucket, self.with_tls_only(bucket, Vec::new())).await?;
        self.put_rules(bucket, vec![abort_rule()?]).await
    }

    /// Puts back what somebody has changed of a bucket of ours. What cannot be read is left alone: it is
    /// not known whether it differs, and who only deploys need not be allowed to look.
    pub(super) async fn put_back(&self, bucket: &str) -> Result<PutBack, AwsError> {
        let rule = abort_rule()?;
        let (is_open, policy, rules) = tokio::join!(
            self.is_open(bucket),
            self.policy_without_tls(bucket),
            self.rules_without(bucket, &rule),
        );
        let mut put_back = PutBack::default();
        if is_open {
            put_back.note(CLOSED.0, self.close(bucket).await);
        }
        if let Some(others) = policy {
            let policy = self.with_tls_only(bucket, others);
            put_back.note(TLS_ONLY.0, self.put_policy(bucket, policy).await);
        }
        if let Some(mut rules) = rules {
            rules.push(rule);
            put_back.note(ABORTED.0, self.put_rules(bucket, rules).await);
        }
        Ok(put_back)
    }

    async fn is_open(&self, bucket: &str) -> bool {
        let request = self.s3.get_public_access_block().bucket(bucket);
        match request.expected_bucket_owner(&self.account).send().await {
            Ok(found) => {
                found.public_access_block_configuration().is_some_and(|it| *it != closed())
            }
            Err(error) => error.code() == Some("NoSuchPublicAccessBlockConfiguration"),
        }
    }

    async fn close(&self, bucket: &str) -> Result<(), AwsError> {
        let request = self.s3.put_public_access_block().bucket(bucket);
        let request = request.public_access_block_configuration(closed());
        let put = request.expected_bucket_owner(&self.account).send().await;
        put.map(drop).map_err(|error| AwsError::of(CLOSED.1, &error))
    }

    /// The other statements of a policy that does not have ours, which are not ours to take away.
    async fn policy_without_tls(&self, bucket: &str) -> Option<Vec<Value>> {
        let request = self.s3.get_bucket_policy().bucket(bucket);
        match request.expected_bucket_owner(&self.account).send().await {
            Ok(found) => others_without(found.policy()?, &self.tls_only(bucket)),
            Err(error) => (error.code() == Some("NoSuchBucketPolicy")).then(Vec::new),
        }
    }

    async fn put_policy(&self, bucket: &str, policy: String) -> Result<(), AwsError> {
        let request = self.s3.put_bucket_policy().bucket(bucket).policy(policy);
        let put = request.expected_bucket_owner(&self.account).send().await;
        put.map(drop).map_err(|error| AwsError::of(TLS_ONLY.1, &error))
    }

    fn with_tls_only(&self, bucket: &str, mut statements: Vec<Value>) -> String {
        statements.push(self.tls_only(bucket));
        json!({ "Version": "2012-10-17", "Statement": statements }).to_string()
    }

    fn tls_only(&self, bucket: &str) -> Value {
        let arn = format!("arn:{}:s3:::{bucket}", self.partition);
        json!({
            "Sid": "TlsOnly",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, format!("{arn}/*")],
            "Condition": { "Bool": { "aws:SecureTransport": "false" } },
        })
    }

    /// The other rules of a bucket that does not have ours.
    async fn rules_without(
        &self,
        bucket: &str,
        rule: &LifecycleRule,
    ) -> Option<Vec<LifecycleRule>> {
        let request = self.s3.get_bucket_lifecycle_configuration().bucket(bucket);
        match request.expected_bucket_owner(&self.account).send().await {
            Ok(found) => {
                let rules = found.rules();
                let others = || rules.iter().filter(|it| it.id() != rule.id()).cloned().collect();
                (!rules.is_empty() && !rules.iter().any(aborts_all)).then(others)
            }
            Err(error) => (error.code() == Some("NoSuchLifecycleConfiguration")).then(Vec::new),
        }
    }

    async fn put_rules(&self, bucket: &str, rules: Vec<LifecycleRule>) -> Result<(), AwsError> {
        let rules = BucketLifecycleConfiguration::builder().set_rules(Some(rules)).build();
        let rules = rules.map_err(|_| AwsError::Reply { missing: "a lifecycle" })?;
        let request = self.s3.put_bucket_lifecycle_configuration().bucket(bucket);
        let request = request.lifecycle_configuration(rules);
        let put = request.expected_bucket_owner(&self.account).send().await;
        put.map(drop).map_err(|error| AwsError::of(ABORTED.1, &error))
    }
}

fn closed() -> PublicAccessBlockConfiguration {
    PublicAccessBlockConfiguration::builder()
        .block_public_acls(true)
        .block_public_policy(true)
        .ignore_public_acls(true)
        .restrict_public_buckets(true)
        .build()
}

/// Bundles stay: a deployment that fails goes back to the one before.
fn abort_rule() -> Result<LifecycleRule, AwsError> {
    let abort = AbortIncompleteMultipartUpload::builder().days_after_initiation(ABORT_AFTER_DAYS);
    LifecycleRule::builder()
        .id("abort-uploads")
        .status(ExpirationStatus::Enabled)
        .filter(LifecycleRuleFilter::builder().prefix("").build())
        .abort_incomplete_multipart_upload(abort.build())
        .build()
        .map_err(|_| AwsError::Reply { missing: "a lifecycle" })
}

/// Whether a rule ends unfinished uploads of all objects. How long after is whoever's choice.
fn aborts_all(rule: &LifecycleRule) -> bool {
    let prefix = rule.filter().and_then(LifecycleRuleFilter::prefix).unwrap_or_default();
    *rule.status() == ExpirationStatus::Enabled
        && rule.abort_incomplete_multipart_upload().is_some()
        && prefix.is_empty()
}

/// The statements of a policy but those that go by the name of `own`, unless that is among them. S3 has
/// checked what it stores; what is not understood here is left alone.
fn others_without(policy: &str, own: &Value) -> Option<Vec<Value>> {
    let policy: Value = serde_json::from_str(policy).ok()?;
    let statements = match policy.get("Statement")? {
        Value::Array(statements) => statements.clone(),
        single => vec![single.clone()],
    };
    let is_own = |it: &&Value| it.get("Sid") == own.get("Sid");
    let others = || statements.iter().filter(|it| !is_own(it)).cloned().collect();
    (!statements.contains(own)).then(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_others_stay_and_an_old_one_of_ours_goes() {
        let aws = Aws::at("http://127.0.0.1:1");
        let own = aws.tls_only("b");
        let other = json!({ "Sid": "Ours", "Effect": "Allow" });
        let of =
            |statement: Value| others_without(&json!({ "Statement": statement }).to_string(), &own);
        assert_eq!(of(json!([other, own])), None);
        assert_eq!(of(own.clone()), None);
        assert_eq!(of(other.clone()), Some(vec![other.clone()]));
        let weak = json!({ "Sid": "TlsOnly", "Effect": "Allow" });
        assert_eq!(of(json!([weak, other])), Some(vec![other.clone()]));
        assert_eq!(others_without("no JSON", &own), None);
        let put: Value =
            serde_json::from_str(&aws.with_tls_only("b", vec![other.clone()])).unwrap();
        assert_eq!(put["Statement"], json!([other, own]));
    }

    #[test]
    fn a_rule_counts_if_it_is_on_and_for_everything() {
        let rule = abort_rule().unwrap();
        assert!(aborts_all(&rule));
        let part = LifecycleRuleFilter::builder().prefix("bundles/").build();
        let with = |change: &dyn Fn(&mut LifecycleRule)| {
            let mut rule = rule.clone();
            change(&mut rule);
            aborts_all(&rule)
        };
        assert!(with(&|it| it.id = Some("other".to_owned())));
        assert!(!with(&|it| it.status = ExpirationStatus::Disabled));
        assert!(!with(&|it| it.filter = Some(part.clone())));
        assert!(!with(&|it| it.abort_incomplete_multipart_upload = None));
    }
}
