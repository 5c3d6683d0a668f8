//! `AWS::S3::Bucket`: a private, versioned and encrypted bucket that is always retained.

use serde_json::{Map, Value, json};

use super::construct::{Construct, RemovalPolicy};
use super::handle::Handle;
use super::lifecycle::LifecycleRule;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// An S3 bucket without access control lists. Versioning is always enabled, because point-in-time
/// recovery requires it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    lifecycle: Vec<LifecycleRule>,
    cors: Option<BucketCors>,
    kms_key: Option<String>,
}

/// A CORS rule of a bucket, for web pages that use presigned URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketCors {
    /// Allowed web origins.
    pub origins: Vec<Expression>,
    /// Allowed HTTP methods.
    pub methods: Vec<String>,
    /// Request headers that web pages may send.
    pub request_headers: Vec<String>,
    /// The response headers that web pages may read.
    pub exposed_headers: Vec<String>,
    /// The number of seconds for which browsers may cache the CORS settings.
    pub max_age_s: u32,
}

impl Bucket {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn lifecycle_rule(mut self, rule: LifecycleRule) -> Self {
        self.lifecycle.push(rule);
        self
    }

    /// Allows web pages from other origins to access the bucket through presigned URLs.
    #[must_use]
    pub fn cors(mut self, rule: BucketCors) -> Self {
        self.cors = Some(rule);
        self
    }

    /// Encrypts the bucket with the KMS key that has this ARN. If `None`, S3-managed encryption is
    /// used.
    #[must_use]
    pub fn encrypted_with(mut self, kms_key: Option<&str>) -> Self {
        self.kms_key = kms_key.map(str::to_owned);
        self
    }

    /// The bucket key reduces the number of KMS requests, which are billed.
    fn encryption(&self) -> Value {
        let rule = match &self.kms_key {
            Some(key_arn) => json!({
                "BucketKeyEnabled": true,
                "ServerSideEncryptionByDefault": {
                    "KMSMasterKeyID": key_arn, "SSEAlgorithm": "aws:kms",
                },
            }),
            None => json!({ "ServerSideEncryptionByDefault": { "SSEAlgorithm": "AES256" } }),
        };
        json!({ "ServerSideEncryptionConfiguration": [rule] })
    }

    fn cors_configuration(&self) -> Option<Value> {
        self.cors.as_ref().map(|rule| json!({ "CorsRules": [Value::from(rule)] }))
    }

    fn lifecycle_configuration(&self) -> Option<Value> {
        if self.lifecycle.is_empty() {
            return None;
        }
        let rules: Vec<Value> = self.lifecycle.iter().map(Value::from).collect();
        Some(json!({ "Rules": rules }))
    }
}

impl Handle<Bucket> {
    /// Returns the physical name of the bucket.
    pub fn name(&self) -> Expression {
        self.reference()
    }

    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }
}

impl From<&BucketCors> for Value {
    fn from(cors: &BucketCors) -> Self {
        let origins: Vec<Self> = cors.origins.iter().cloned().map(Self::from).collect();
        json!({
            "AllowedHeaders": cors.request_headers,
            "AllowedMethods": cors.methods,
            "AllowedOrigins": origins,
            "ExposedHeaders": cors.exposed_headers,
            "MaxAge": cors.max_age_s,
        })
    }
}

impl Construct for Bucket {
    const TYPE: ResourceType = ResourceType::Bucket;

    fn properties(self) -> Map<String, Value> {
        let public_access_block = json!({
            "BlockPublicAcls": true,
            "BlockPublicPolicy": true,
            "IgnorePublicAcls": true,
            "RestrictPublicBuckets": true,
        });
        let ownership_controls = json!({ "Rules": [{ "ObjectOwnership": "BucketOwnerEnforced" }] });
        Properties::new()
            .set("BucketEncryption", self.encryption())
            .set_option("CorsConfiguration", self.cors_configuration())
            .set_option("LifecycleConfiguration", self.lifecycle_configuration())
            .set("OwnershipControls", ownership_controls)
            .set("PublicAccessBlockConfiguration", public_access_block)
            .set("VersioningConfiguration", json!({ "Status": "Enabled" }))
            .into_map()
    }

    fn removal_policy(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::RetainExceptOnCreate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_bucket_is_private_versioned_and_encrypted() {
        let properties = Bucket::new().properties();
        let blocked = properties["PublicAccessBlockConfiguration"].as_object().unwrap();
        assert_eq!(blocked.len(), 4);
        assert!(blocked.values().all(|value| value == true));
        assert_eq!(properties["VersioningConfiguration"]["Status"], "Enabled");
        assert!(!properties.contains_key("CorsConfiguration"));
        assert!(!properties.contains_key("LifecycleConfiguration"));
    }

    #[test]
    fn aborting_uploads_and_tags_are_separate_rules() {
        let bucket = Bucket::new()
            .lifecycle_rule(LifecycleRule::ExpireTagged {
                id: "a".to_owned(),
                key: "state".to_owned(),
                value: "pending".to_owned(),
                after_days: 3,
            })
            .lifecycle_rule(LifecycleRule::AbortMultipart { id: "b".to_owned(), after_days: 2 });
        let properties = bucket.properties();
        let rules = &properties["LifecycleConfiguration"]["Rules"];
        assert_eq!(rules[0]["TagFilters"], json!([{"Key": "state", "Value": "pending"}]));
        assert_eq!(rules[0]["ExpirationInDays"], 3);
        assert_eq!(rules[1]["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"], 2);
        assert_eq!(rules[1].get("TagFilters"), None);
    }

    #[test]
    fn cors_names_its_origins() {
        let bucket = Bucket::new().cors(BucketCors {
            origins: vec!["https://a.example".into()],
            methods: vec!["GET".to_owned()],
            request_headers: Vec::new(),
            exposed_headers: Vec::new(),
            max_age_s: 60,
        });
        let rule = &bucket.properties()["CorsConfiguration"]["CorsRules"][0];
        assert_eq!(rule["AllowedOrigins"], json!(["https://a.example"]));
        assert_eq!(rule["MaxAge"], 60);
    }
}
