//! Access requests. An access request asks whether a caller may perform an action on a resource, as
//! in IAM policies.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionKey {
    /// The top-level attributes that occur in the item, key and expressions of a DynamoDB request.
    Attributes,
    /// `s3:prefix`: the prefix in a request that lists objects. When a missing object is requested,
    /// this is the object's key, because S3 then checks the permission to list the object.
    Prefix,
    /// `kms:ViaService`: the service that calls KMS on behalf of the caller. Local requests never
    /// contain this key, because the local stack encrypts nothing. A statement with this condition
    /// therefore never applies.
    ViaService,
}

impl ConditionKey {
    const ALL: [Self; 3] = [Self::Attributes, Self::Prefix, Self::ViaService];

    /// Ignores case.
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

    pub(super) const fn is_multivalued(self) -> bool {
        matches!(self, Self::Attributes)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessRequest {
    /// Action name, such as `dynamodb:PutItem`.
    pub(crate) action: String,
    /// ARN of the resource, or `*` if the action has no resource.
    pub(crate) resource: String,
    pub(crate) keys: Vec<(ConditionKey, Vec<String>)>,
}

impl AccessRequest {
    pub(crate) fn new(action: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { action: action.into(), resource: resource.into(), keys: vec![] }
    }

    pub(crate) fn with_key(mut self, key: ConditionKey, values: Vec<String>) -> Self {
        self.keys.push((key, values));
        self
    }

    pub(super) fn values(&self, key: ConditionKey) -> Option<&[String]> {
        let (_, values) = self.keys.iter().find(|(own_key, _)| *own_key == key)?;
        Some(values)
    }
}
