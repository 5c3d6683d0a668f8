//! `AWS::DynamoDB::Table`: an encrypted on-demand table with point-in-time recovery that is always
//! retained.

use serde_json::{Map, Value, json};

use super::construct::{Construct, RemovalPolicy};
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A DynamoDB table. Its capacity is always on-demand, so an idle table costs only its storage.
/// Point-in-time recovery, encryption and retention cannot be disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    attributes: Vec<(String, AttributeType)>,
    partition_key: String,
    sort_key: Option<String>,
    stream: Option<StreamView>,
    deletion_protection: bool,
    kms_key: Option<String>,
    max_write_units: Option<u32>,
}

/// Key attribute data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// `B`: bytes.
    Binary,
    /// `N`: a number.
    Number,
    /// `S`: a string.
    String,
}

/// Item contents in a change stream record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamView {
    KeysOnly,
    /// The item after the change.
    NewImage,
    /// The item before the change.
    OldImage,
    NewAndOldImages,
}

impl Table {
    /// Creates a table with this partition key. Set the type of the key with [`Table::attribute`].
    pub fn new(partition_key: impl Into<String>) -> Self {
        Self {
            attributes: Vec::new(),
            partition_key: partition_key.into(),
            sort_key: None,
            stream: None,
            deletion_protection: true,
            kms_key: None,
            max_write_units: None,
        }
    }

    /// Adds a sort key. Set the type of the key with [`Table::attribute`].
    #[must_use]
    pub fn sort_key(mut self, name: impl Into<String>) -> Self {
        self.sort_key = Some(name.into());
        self
    }

    /// Sets the type of a key attribute. [`Stack::synthesize`](crate::stack::Stack::synthesize)
    /// fails if a key attribute has no type, or if another attribute has one.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, attribute_type: AttributeType) -> Self {
        self.attributes.push((name.into(), attribute_type));
        self
    }

    /// Enables the table's change stream.
    #[must_use]
    pub fn stream(mut self, view: StreamView) -> Self {
        self.stream = Some(view);
        self
    }

    /// Sets whether the table is protected against deletion. Defaults to true.
    #[must_use]
    pub fn deletion_protection(mut self, is_protected: bool) -> Self {
        self.deletion_protection = is_protected;
        self
    }

    /// Encrypts the table with the KMS key that has this ARN. If `None`, an AWS-owned key is used.
    #[must_use]
    pub fn encrypted_with(mut self, kms_key: Option<&str>) -> Self {
        self.kms_key = kms_key.map(str::to_owned);
        self
    }

    /// Limits the write throughput to this number of write units per second. If `None`, it is not
    /// limited.
    #[must_use]
    pub fn max_write_units(mut self, write_units_per_second: Option<u32>) -> Self {
        self.max_write_units = write_units_per_second;
        self
    }

    fn throughput_limit(&self) -> Option<Value> {
        Some(json!({ "MaxWriteRequestUnits": self.max_write_units? }))
    }

    fn encryption(&self) -> Option<Value> {
        let kms_key = self.kms_key.as_ref()?;
        Some(json!({ "KMSMasterKeyId": kms_key, "SSEEnabled": true, "SSEType": "KMS" }))
    }

    fn key_schema(&self) -> Value {
        let mut keys = vec![json!({ "AttributeName": self.partition_key, "KeyType": "HASH" })];
        if let Some(sort_key) = &self.sort_key {
            keys.push(json!({ "AttributeName": sort_key, "KeyType": "RANGE" }));
        }
        Value::Array(keys)
    }

    fn attribute_definitions(&self) -> Value {
        let definitions = self.attributes.iter().map(|(name, attribute_type)| {
            json!({ "AttributeName": name, "AttributeType": attribute_type.code() })
        });
        Value::Array(definitions.collect())
    }
}

impl Handle<Table> {
    /// Returns the physical name of the table.
    pub fn name(&self) -> Expression {
        self.reference()
    }

    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }

    /// Returns the ARN of the change stream. Synthesis fails if the table has no change stream.
    pub fn stream_arn(&self) -> Expression {
        self.attribute("StreamArn")
    }
}

impl Construct for Table {
    const TYPE: ResourceType = ResourceType::Table;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("AttributeDefinitions", self.attribute_definitions())
            .set("BillingMode", "PAY_PER_REQUEST")
            .set("DeletionProtectionEnabled", self.deletion_protection)
            .set("KeySchema", self.key_schema())
            .set_option("OnDemandThroughput", self.throughput_limit())
            .set("PointInTimeRecoverySpecification", json!({ "PointInTimeRecoveryEnabled": true }))
            .set_option("SSESpecification", self.encryption())
            .set_option(
                "StreamSpecification",
                self.stream.map(|view| json!({ "StreamViewType": view.name() })),
            )
            .into_map()
    }

    fn removal_policy(&self) -> Option<RemovalPolicy> {
        Some(if self.deletion_protection {
            RemovalPolicy::Retain
        } else {
            RemovalPolicy::RetainExceptOnCreate
        })
    }
}

impl AttributeType {
    const fn code(self) -> &'static str {
        match self {
            Self::Binary => "B",
            Self::Number => "N",
            Self::String => "S",
        }
    }
}

impl StreamView {
    const fn name(self) -> &'static str {
        match self {
            Self::KeysOnly => "KEYS_ONLY",
            Self::NewImage => "NEW_IMAGE",
            Self::OldImage => "OLD_IMAGE",
            Self::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_table_has_one_key_and_no_stream() {
        let table = Table::new("id").attribute("id", AttributeType::String);
        let properties = table.properties();
        assert_eq!(properties["KeySchema"], json!([{"AttributeName": "id", "KeyType": "HASH"}]));
        assert_eq!(
            properties["AttributeDefinitions"],
            json!([{"AttributeName": "id", "AttributeType": "S"}])
        );
        assert_eq!(properties["DeletionProtectionEnabled"], true);
        assert!(!properties.contains_key("StreamSpecification"));
        assert!(!properties.contains_key("ProvisionedThroughput"));
        assert!(!properties.contains_key("OnDemandThroughput"));
    }

    #[test]
    fn each_option_becomes_its_property() {
        let table = Table::new("S")
            .sort_key("N")
            .attribute("S", AttributeType::Binary)
            .attribute("N", AttributeType::Number)
            .stream(StreamView::NewImage)
            .deletion_protection(false)
            .max_write_units(Some(500));
        let properties = table.properties();
        assert_eq!(properties["KeySchema"][1], json!({"AttributeName": "N", "KeyType": "RANGE"}));
        assert_eq!(properties["AttributeDefinitions"][0]["AttributeType"], "B");
        assert_eq!(properties["StreamSpecification"], json!({"StreamViewType": "NEW_IMAGE"}));
        assert_eq!(properties["DeletionProtectionEnabled"], false);
        assert_eq!(properties["OnDemandThroughput"], json!({"MaxWriteRequestUnits": 500}));
    }
}
