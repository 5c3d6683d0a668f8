//! `AWS::DynamoDB::Table`: on demand, encrypted, with point-in-time recovery, always retained.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, RemovalPolicy, ResourceType};

/// A DynamoDB table.
///
/// Capacity is on demand and nothing about it can be provisioned, so that an idle table costs its
/// storage only. Recovery, encryption and retention are not optional either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    attributes: Vec<(String, AttributeType)>,
    partition_key: String,
    sort_key: Option<String>,
    stream: Option<StreamView>,
    deletion_protection: bool,
    key: Option<String>,
}

/// Type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// `B`: bytes.
    Binary,
    /// `N`: a number.
    Number,
    /// `S`: a string.
    String,
}

/// What the table's stream tells about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamView {
    /// The keys.
    KeysOnly,
    /// The item after the change.
    NewImage,
    /// The item before the change.
    OldImage,
    /// The item before and after the change.
    NewAndOldImages,
}

impl Table {
    /// A table whose partition key is this attribute; define it with [`Table::attribute`].
    pub fn new(partition_key: impl Into<String>) -> Self {
        Self {
            attributes: Vec::new(),
            partition_key: partition_key.into(),
            sort_key: None,
            stream: None,
            deletion_protection: true,
            key: None,
        }
    }

    /// Adds a sort key; define its attribute with [`Table::attribute`].
    #[must_use]
    pub fn sort_key(mut self, name: impl Into<String>) -> Self {
        self.sort_key = Some(name.into());
        self
    }

    /// Defines the type of a key attribute. Exactly the keys have to be defined, which
    /// [`Stack::synthesize`](crate::stack::Stack::synthesize) checks.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, attribute_type: AttributeType) -> Self {
        self.attributes.push((name.into(), attribute_type));
        self
    }

    /// Gives the table a stream.
    #[must_use]
    pub fn stream(mut self, view: StreamView) -> Self {
        self.stream = Some(view);
        self
    }

    /// Whether the table refuses to be deleted; it does unless told otherwise.
    #[must_use]
    pub fn deletion_protection(mut self, protected: bool) -> Self {
        self.deletion_protection = protected;
        self
    }

    /// Encrypts it with a customer's key, by its ARN; without one, with a key that DynamoDB owns.
    #[must_use]
    pub fn encrypted_with(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }

    fn encryption(&self) -> Option<Value> {
        let key = self.key.as_ref()?;
        Some(json!({ "KMSMasterKeyId": key, "SSEEnabled": true, "SSEType": "KMS" }))
    }

    fn key_schema(&self) -> Value {
        let partition = (Some(&self.partition_key), "HASH");
        let sort = (self.sort_key.as_ref(), "RANGE");
        let keys = [partition, sort].into_iter().filter_map(|(name, key_type)| {
            name.map(|name| json!({ "AttributeName": name, "KeyType": key_type }))
        });
        Value::Array(keys.collect())
    }

    fn attribute_definitions(&self) -> Value {
        let definitions = self.attributes.iter().map(|(name, attribute_type)| {
            json!({ "AttributeName": name, "AttributeType": attribute_type.letter() })
        });
        Value::Array(definitions.collect())
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
            .set("PointInTimeRecoverySpecification", json!({ "PointInTimeRecoveryEnabled": true }))
            .set_option("SSESpecification", self.encryption())
            .set_option(
                "StreamSpecification",
                self.stream.map(|view| json!({ "StreamViewType": view.name() })),
            )
            .into_map()
    }

    fn removal(&self) -> Option<RemovalPolicy> {
        Some(match self.deletion_protection {
            true => RemovalPolicy::Retain,
            false => RemovalPolicy::RetainExceptOnCreate,
        })
    }
}

impl AttributeType {
    const fn letter(self) -> &'static str {
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
    }

    #[test]
    fn each_option_becomes_its_property() {
        let table = Table::new("S")
            .sort_key("N")
            .attribute("S", AttributeType::Binary)
            .attribute("N", AttributeType::Number)
            .stream(StreamView::NewImage)
            .deletion_protection(false);
        let properties = table.properties();
        assert_eq!(properties["KeySchema"][1], json!({"AttributeName": "N", "KeyType": "RANGE"}));
        assert_eq!(properties["AttributeDefinitions"][0]["AttributeType"], "B");
        assert_eq!(properties["StreamSpecification"], json!({"StreamViewType": "NEW_IMAGE"}));
        assert_eq!(properties["DeletionProtectionEnabled"], false);
    }
}
