//! A request for permission to perform an action on a resource, in the terms of IAM policies.

/// A condition key that the local stack supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionKey {
    /// The top-level attributes that occur in the item, key and expressions of a DynamoDB request.
    Attributes,
    /// The prefix in an object list request. If a missing object requires the list permission, the
    /// prefix is the object's key.
    Prefix,
    /// The service on whose behalf KMS (the key service) is called. Local requests never contain
    /// this key, because nothing is encrypted. A statement with this condition therefore never
    /// applies.
    ViaService,
}

impl ConditionKey {
    const ALL: [Self; 3] = [Self::Attributes, Self::Prefix, Self::ViaService];

    /// Returns the condition key with the given name, ignoring case.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name().eq_ignore_ascii_case(name))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Attributes => "dynamodb:Attributes",
            Self::Prefix => "s3:prefix",
            Self::ViaService => "kms:ViaService",
        }
    }

    /// Returns whether a request may contain several values of this condition key.
    pub(super) const fn is_multivalued(self) -> bool {
        matches!(self, Self::Attributes)
    }
}

/// A request to perform one action on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessRequest {
    /// Action name, such as `dynamodb:PutItem`.
    pub(crate) action: String,
    /// ARN of the resource, or `*` if the action has no resource.
    pub(crate) resource: String,
    /// Condition key values.
    pub(crate) keys: Vec<(ConditionKey, Vec<String>)>,
}

impl AccessRequest {
    /// Creates a request without condition keys.
    pub(crate) fn new(action: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { action: action.into(), resource: resource.into(), keys: vec![] }
    }

    /// Adds the values of a condition key.
    pub(crate) fn with_key(mut self, key: ConditionKey, values: Vec<String>) -> Self {
        self.keys.push((key, values));
        self
    }

    /// Returns a condition key's values, or `None` if the request does not contain the key.
    pub(super) fn values(&self, key: ConditionKey) -> Option<&[String]> {
        let (_, values) = self.keys.iter().find(|(own_key, _)| *own_key == key)?;
        Some(values)
    }
}
