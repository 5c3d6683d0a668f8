//! Artifact bucket settings: public access is blocked, TLS is required, and incomplete multipart
//! uploads are deleted. The settings are applied to new buckets and restored by later deployments.

use aws_sdk_s3::error::ProvideErrorMetadata as _;
use aws_sdk_s3::types::{
    AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, ExpirationStatus, LifecycleRule,
    LifecycleRuleFilter, PublicAccessBlockConfiguration,
};
use serde_json::{Value, json};

use super::connect::Aws;
use super::error::AwsError;

/// Number of days after which an incomplete multipart upload is deleted.
const ABORT_AFTER_DAYS: i32 = 1;

struct Setting {
    name: &'static str,
    /// Verb phrase that follows "cannot" in the error message if the setting cannot be changed.
    operation: &'static str,
}

const PUBLIC_ACCESS_BLOCK: Setting = Setting {
    name: "public access block",
    operation: "block public access to the artifact bucket",
};
const TLS_POLICY: Setting =
    Setting { name: "TLS-only policy", operation: "require TLS for the artifact bucket" };
const UPLOAD_CLEANUP: Setting = Setting {
    name: "cleanup of unfinished uploads",
    operation: "configure the cleanup of unfinished uploads to the artifact bucket",
};

#[derive(Debug, Default)]
pub(crate) struct SettingsRepair {
    pub(crate) restored: Vec<&'static str>,
    pub(crate) failed: Vec<(&'static str, AwsError)>,
}

impl SettingsRepair {
    fn record(&mut self, setting: &Setting, result: Result<(), AwsError>) {
        match result {
            Ok(()) => self.restored.push(setting.name),
            Err(error) => self.failed.push((setting.name, error)),
        }
    }
}

impl Aws {
    pub(super) async fn apply_bucket_settings(&self, bucket: &str) -> Result<(), AwsError> {
        self.block_public_access(bucket).await?;
        self.put_policy(bucket, self.policy_with_tls_statement(bucket, Vec::new())).await?;
        self.put_lifecycle_rules(bucket, vec![upload_cleanup_rule()?]).await
    }

    /// A setting that cannot be read is left unchanged, because the deploying identity may lack the
    /// permission to read it.
    pub(super) async fn repair_settings(&self, bucket: &str) -> Result<SettingsRepair, AwsError> {
        let cleanup_rule = upload_cleanup_rule()?;
        let (allows_public_access, statements_without_tls, rules_without_cleanup) = tokio::join!(
            self.allows_public_access(bucket),
            self.statements_if_tls_is_missing(bucket),
            self.rules_if_cleanup_is_missing(bucket, &cleanup_rule),
        );
        let mut repair = SettingsRepair::default();
        if allows_public_access {
            let result = self.block_public_access(bucket).await;
            repair.record(&PUBLIC_ACCESS_BLOCK, result);
        }
        if let Some(statements) = statements_without_tls {
            let policy = self.policy_with_tls_statement(bucket, statements);
            let result = self.put_policy(bucket, policy).await;
            repair.record(&TLS_POLICY, result);
        }
        if let Some(mut rules) = rules_without_cleanup {
            rules.push(cleanup_rule);
            let result = self.put_lifecycle_rules(bucket, rules).await;
            repair.record(&UPLOAD_CLEANUP, result);
        }
        Ok(repair)
    }

    async fn allows_public_access(&self, bucket: &str) -> bool {
        let request = self.s3.get_public_access_block().bucket(bucket);
        match request.expected_bucket_owner(&self.account).send().await {
            Ok(output) => output
                .public_access_block_configuration()
                .is_some_and(|configuration| *configuration != full_access_block()),
            Err(error) => error.code() == Some("NoSuchPublicAccessBlockConfiguration"),
        }
    }

    async fn block_public_access(&self, bucket: &str) -> Result<(), AwsError> {
        let request = self.s3.put_public_access_block().bucket(bucket);
        let request = request.public_access_block_configuration(full_access_block());
        let result = request.expected_bucket_owner(&self.account).send().await;
        result.map_err(|error| AwsError::from_sdk(PUBLIC_ACCESS_BLOCK.operation, &error))?;
        Ok(())
    }

    /// Returns `None` if the policy already contains the TLS statement or cannot be read.
    async fn statements_if_tls_is_missing(&self, bucket: &str) -> Option<Vec<Value>> {
        let request = self.s3.get_bucket_policy().bucket(bucket);
        match request.expected_bucket_owner(&self.account).send().await {
            Ok(output) => statements_if_missing(output.policy()?, &self.tls_statement(bucket)),
            Err(error) if error.code() == Some("NoSuchBucketPolicy") => Some(Vec::new()),
            Err(_) => None,
        }
    }

    async fn put_policy(&self, bucket: &str, policy: String) -> Result<(), AwsError> {
        let request = self.s3.put_bucket_policy().bucket(bucket).policy(policy);
        let result = request.expected_bucket_owner(&self.account).send().await;
        result.map_err(|error| AwsError::from_sdk(TLS_POLICY.operation, &error))?;
        Ok(())
    }

    fn policy_with_tls_statement(&self, bucket: &str, mut statements: Vec<Value>) -> String {
        statements.push(self.tls_statement(bucket));
        json!({ "Version": "2012-10-17", "Statement": statements }).to_string()
    }

    fn tls_statement(&self, bucket: &str) -> Value {
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

    /// Returns `None` if a rule already deletes all incomplete uploads, if the response contains no
    /// rules, or if the rules cannot be read.
    async fn rules_if_cleanup_is_missing(
        &self,
        bucket: &str,
        cleanup_rule: &LifecycleRule,
    ) -> Option<Vec<LifecycleRule>> {
        let request = self.s3.get_bucket_lifecycle_configuration().bucket(bucket);
        match request.expected_bucket_owner(&self.account).send().await {
            Ok(output) => {
                let existing_rules = output.rules();
                if existing_rules.is_empty() || existing_rules.iter().any(cleans_up_all_uploads) {
                    return None;
                }
                let has_other_id = |rule: &&LifecycleRule| rule.id() != cleanup_rule.id();
                Some(existing_rules.iter().filter(has_other_id).cloned().collect())
            }
            Err(error) if error.code() == Some("NoSuchLifecycleConfiguration") => Some(Vec::new()),
            Err(_) => None,
        }
    }

    async fn put_lifecycle_rules(
        &self,
        bucket: &str,
        rules: Vec<LifecycleRule>,
    ) -> Result<(), AwsError> {
        let configuration = BucketLifecycleConfiguration::builder()
            .set_rules(Some(rules))
            .build()
            .map_err(|_| AwsError::IncompleteReply { missing: "a lifecycle" })?;
        let request = self.s3.put_bucket_lifecycle_configuration().bucket(bucket);
        let request = request.lifecycle_configuration(configuration);
        let result = request.expected_bucket_owner(&self.account).send().await;
        result.map_err(|error| AwsError::from_sdk(UPLOAD_CLEANUP.operation, &error))?;
        Ok(())
    }
}

fn full_access_block() -> PublicAccessBlockConfiguration {
    PublicAccessBlockConfiguration::builder()
        .block_public_acls(true)
        .block_public_policy(true)
        .ignore_public_acls(true)
        .restrict_public_buckets(true)
        .build()
}

/// The rule does not delete bundles, because a rollback needs the previous bundle.
fn upload_cleanup_rule() -> Result<LifecycleRule, AwsError> {
    let abort = AbortIncompleteMultipartUpload::builder().days_after_initiation(ABORT_AFTER_DAYS);
    LifecycleRule::builder()
        .id("abort-uploads")
        .status(ExpirationStatus::Enabled)
        .filter(LifecycleRuleFilter::builder().prefix("").build())
        .abort_incomplete_multipart_upload(abort.build())
        .build()
        .map_err(|_| AwsError::IncompleteReply { missing: "a lifecycle" })
}

fn cleans_up_all_uploads(rule: &LifecycleRule) -> bool {
    let prefix = rule.filter().and_then(LifecycleRuleFilter::prefix).unwrap_or_default();
    *rule.status() == ExpirationStatus::Enabled
        && rule.abort_incomplete_multipart_upload().is_some()
        && prefix.is_empty()
}

/// An outdated version of `required_statement`, which has the same Sid (statement id), is omitted.
///
/// Returns `None` if the policy already contains `required_statement` or cannot be parsed.
fn statements_if_missing(policy: &str, required_statement: &Value) -> Option<Vec<Value>> {
    let policy: Value = serde_json::from_str(policy).ok()?;
    let statements = match policy.get("Statement")? {
        Value::Array(statements) => statements.clone(),
        single => vec![single.clone()],
    };
    if statements.contains(required_statement) {
        return None;
    }
    let has_other_sid = |statement: &Value| statement.get("Sid") != required_statement.get("Sid");
    Some(statements.into_iter().filter(has_other_sid).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_other_statements_and_drops_an_old_own_one() {
        let aws = Aws::at_endpoint("http://127.0.0.1:1");
        let own = aws.tls_statement("b");
        let other = json!({ "Sid": "Ours", "Effect": "Allow" });
        let of = |statement: Value| {
            statements_if_missing(&json!({ "Statement": statement }).to_string(), &own)
        };
        assert_eq!(of(json!([other, own])), None);
        assert_eq!(of(own.clone()), None);
        assert_eq!(of(other.clone()), Some(vec![other.clone()]));
        let weak = json!({ "Sid": "TlsOnly", "Effect": "Allow" });
        assert_eq!(of(json!([weak, other])), Some(vec![other.clone()]));
        assert_eq!(statements_if_missing("no JSON", &own), None);
        let put: Value =
            serde_json::from_str(&aws.policy_with_tls_statement("b", vec![other.clone()])).unwrap();
        assert_eq!(put["Statement"], json!([other, own]));
    }

    #[test]
    fn a_cleanup_rule_must_be_enabled_and_cover_all_objects() {
        let rule = upload_cleanup_rule().unwrap();
        assert!(cleans_up_all_uploads(&rule));
        let part = LifecycleRuleFilter::builder().prefix("bundles/").build();
        let with = |change: &dyn Fn(&mut LifecycleRule)| {
            let mut rule = rule.clone();
            change(&mut rule);
            cleans_up_all_uploads(&rule)
        };
        assert!(with(&|it| it.id = Some("other".to_owned())));
        assert!(!with(&|it| it.status = ExpirationStatus::Disabled));
        assert!(!with(&|it| it.filter = Some(part.clone())));
        assert!(!with(&|it| it.abort_incomplete_multipart_upload = None));
    }
}
