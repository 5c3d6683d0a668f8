//! `AWS::SNS::Topic`.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// An SNS topic that forwards messages to an email address. An idle topic and the first thousand
/// emails per month are free.
///
/// The topic has the default policy of SNS, which allows alarms of the same account to publish
/// messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    email: String,
    kms_key: Option<String>,
}

impl Topic {
    /// Creates a topic that forwards messages to an email address. SNS forwards nothing until the
    /// recipient has confirmed the subscription.
    pub fn to_email(email: &str) -> Self {
        Self { email: email.to_owned(), kms_key: None }
    }

    /// Encrypts the topic with the KMS key that has this ARN. The key policy must allow CloudWatch
    /// to use the key.
    #[must_use]
    pub fn encrypted_with(mut self, kms_key: Option<&str>) -> Self {
        self.kms_key = kms_key.map(str::to_owned);
        self
    }
}

impl Handle<Topic> {
    pub fn arn(&self) -> Expression {
        self.reference()
    }
}

impl Construct for Topic {
    const TYPE: ResourceType = ResourceType::Topic;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set_option("KmsMasterKeyId", self.kms_key)
            .set("Subscription", json!([{ "Endpoint": self.email, "Protocol": "email" }]))
            .into_map()
    }
}
