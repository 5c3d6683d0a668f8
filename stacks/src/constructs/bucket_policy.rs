//! `AWS::S3::BucketPolicy`.

use serde_json::{Map, Value, json};

use super::bucket::Bucket;
use super::construct::{Construct, RemovalPolicy};
use super::handle::Handle;
use super::policy::{Statement, policy_document};
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A policy that denies unencrypted access to a bucket. It is retained together with the bucket,
/// because the retained data could otherwise be read over plain HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketPolicy {
    bucket: Expression,
    statements: Vec<Statement>,
}

impl BucketPolicy {
    /// Creates a policy that denies every request that does not use TLS.
    pub fn tls_only(bucket: &Handle<Bucket>) -> Self {
        let objects = Expression::concatenation([bucket.arn(), "/*".into()]);
        let statement = Statement::deny_everyone(
            "DenyPlainHttp",
            ["s3:*"],
            [bucket.arn(), objects],
            json!({ "Bool": { "aws:SecureTransport": "false" } }),
        );
        Self { bucket: bucket.name(), statements: vec![statement] }
    }
}

impl Construct for BucketPolicy {
    const TYPE: ResourceType = ResourceType::BucketPolicy;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("Bucket", self.bucket)
            .set("PolicyDocument", policy_document(self.statements.iter().map(Value::from)))
            .into_map()
    }

    fn removal_policy(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::RetainExceptOnCreate)
    }
}
