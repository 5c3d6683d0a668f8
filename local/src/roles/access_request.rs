//! An action that a caller requests on a resource, in terms of IAM policies.

/// A condition key that the local stack supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionKey {
    /// Top-level attributes in the item, the key and the expressions of a DynamoDB request.
    Attributes,
    /// Prefix of an object list. For a missing object, this is the key of the object.
    Prefix,
    /// Service on whose behalf KMS is called. Local requests never contain this key, because
    /// nothing is encrypted. Statements with this condition therefore never apply.
    ViaService,
}

impl ConditionKey {
    const ALL: [Self; 3] = [Self::Attributes, Self::Prefix, Self::ViaService];

    /// Returns the key with this name. Upper and lower case are not distinguished.
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
    pub(super) const fn has_many(self) -> bool {
        matches!(self, Self::Attributes)
    }
}

/// One action on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessRequest {
    /// Name of the action, such as `dynamodb:PutItem`.
    pub(crate) action: String,
    /// ARN of the resource, or `*` for an action without a resource.
    pub(crate) resource: String,
    /// Values of condition keys.
    pub(crate) keys: Vec<(ConditionKey, Vec<String>)>,
}

impl AccessRequest {
    /// Creates a request without condition keys.
    pub(crate) fn new(action: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { action: action.into(), resource: resource.into(), keys: vec![] }
    }

    /// Adds the values of a condition key.
    pub(crate) fn with(mut self, key: ConditionKey, values: Vec<String>) -> Self {
        self.keys.push((key, values));
        self
    }

    /// Returns the values of a condition key, if the request has the key.
    pub(super) fn values(&self, key: ConditionKey) -> Option<&[String]> {
        self.keys.iter().find(|(own, _)| *own == key).map(|(_, values)| values.as_slice())
    }
}
