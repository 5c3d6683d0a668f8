//! An action requested on a resource, in terms of IAM policies.

/// A condition key supported by the local stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionKey {
    /// Top-level attributes in a DynamoDB request's item, key and expressions.
    Attributes,
    /// Prefix of an object list, or the object key when checking for a missing object.
    Prefix,
    /// Service on whose behalf KMS is called. Local requests never contain this key, because
    /// nothing is encrypted, so statements with this condition never apply.
    ViaService,
}

impl ConditionKey {
    const ALL: [Self; 3] = [Self::Attributes, Self::Prefix, Self::ViaService];

    /// Returns the condition key with this name, ignoring case.
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

    /// Returns whether a request can contain several values of this key.
    pub(super) const fn is_multivalued(self) -> bool {
        matches!(self, Self::Attributes)
    }
}

/// One action on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessRequest {
    /// Action name, such as `dynamodb:PutItem`.
    pub(crate) action: String,
    /// Resource ARN, or `*` for an action without a resource.
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
