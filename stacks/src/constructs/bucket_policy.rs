//! `AWS::S3::BucketPolicy`.

use serde_json::{Map, Value, json};

use super::policy::document;
use super::properties::Properties;
use super::{Bucket, Construct, RemovalPolicy, ResourceType, Statement};
use crate::expression::Expression;
use crate::stack::Handle;

/// The policy of a bucket. It is retained with the bucket: without it the data that stays behind
/// would be readable over plain HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketPolicy {
    bucket: Expression,
    statements: Vec<Statement>,
}

impl BucketPolicy {
    /// Refuses every request that does not use TLS.
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
            .set("PolicyDocument", document(self.statements.iter().map(Value::from)))
            .into_map()
    }

    fn removal(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::RetainExceptOnCreate)
    }
}
