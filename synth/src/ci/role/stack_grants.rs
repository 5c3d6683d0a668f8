//! Permissions for the stack itself, for the bucket of bundles and for the key of the stack.

use super::grants::Grant;
use super::names::{Names, arn, bucket_arn};

const STACK_ACTIONS: &[&str] = &[
    "cloudformation:CreateChangeSet",
    "cloudformation:DeleteChangeSet",
    "cloudformation:DescribeChangeSet",
    "cloudformation:DescribeEvents",
    "cloudformation:DescribeStackEvents",
    "cloudformation:DescribeStacks",
    "cloudformation:ExecuteChangeSet",
    "cloudformation:GetTemplate",
    "cloudformation:ListChangeSets",
    "cloudformation:ListStackResources",
    "cloudformation:TagResource",
    "cloudformation:UntagResource",
    "cloudformation:UpdateTerminationProtection",
];
const BUNDLE_BUCKET_ACTIONS: &[&str] = &[
    "s3:CreateBucket",
    "s3:GetBucketPolicy",
    "s3:GetBucketPublicAccessBlock",
    "s3:GetLifecycleConfiguration",
    "s3:ListBucket",
    "s3:PutBucketPolicy",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutLifecycleConfiguration",
];
const BUNDLE_ACTIONS: &[&str] = &["s3:GetObject", "s3:PutObject"];
/// DynamoDB needs these of a caller that creates or changes a table with a customer-managed key.
const KEY_ACTIONS: &[&str] = &[
    "kms:CreateGrant",
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
];
/// Prefix of the names of change sets, see `AwsDeployment`.
const CHANGE_SETS: &str = "changeSet/cellar-*";
/// The names of Cellar's bucket in an account and region, see `Aws::default_artifact_bucket`.
const BUNDLE_BUCKETS: [&str; 2] = [
    "cellar-artifacts-${AWS::AccountId}-${AWS::Region}",
    "cellar-artifacts-${AWS::AccountId}-${AWS::Region}-an",
];

/// Returns statement ids and permissions.
pub(super) fn stack_grants(names: &Names, kms_key_arn: Option<&str>) -> Vec<(&'static str, Grant)> {
    let stack = arn("cloudformation", &format!("stack/{}/*", names.stack));
    let change_sets = arn("cloudformation", CHANGE_SETS);
    let buckets: Vec<String> = BUNDLE_BUCKETS.iter().map(|name| bucket_arn(name)).collect();
    let bundles = buckets.iter().map(|bucket| format!("{bucket}/*")).collect();
    let mut grants = vec![
        ("Stack", Grant::new(STACK_ACTIONS, vec![stack, change_sets])),
        ("BundleBucket", Grant::new(BUNDLE_BUCKET_ACTIONS, buckets)),
        ("Bundles", Grant::new(BUNDLE_ACTIONS, bundles)),
    ];
    if let Some(key) = kms_key_arn {
        grants.push(("Key", Grant::new(KEY_ACTIONS, vec![key.to_owned()])));
    }
    grants
}
