//! What somebody wants to do, in the words of policies.

/// What a condition of a policy may be about: the keys of requests that the local cloud knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionKey {
    /// Top-level attributes that a request to DynamoDB names: of its item, its key and its expressions.
    Attributes,
    /// The prefix of a list of objects; for an object that is not there, its key.
    Prefix,
    /// The service in whose name KMS is asked. No request here has it, because nothing is encrypted
    /// here: a statement that asks for it permits nothing that is judged here.
    ViaService,
}

impl ConditionKey {
    const ALL: [Self; 3] = [Self::Attributes, Self::Prefix, Self::ViaService];

    /// The key with this name; upper and lower case are the same.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name().eq_ignore_ascii_case(name))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Attributes => "dynamodb:Attributes",
            Self::Prefix => "s3:prefix",
            Self::ViaService => "kms:ViaService",
        }
    }

    /// Whether a request has several values of it.
    pub(super) const fn has_many(self) -> bool {
        matches!(self, Self::Attributes)
    }
}

/// One action on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// Such as `dynamodb:PutItem`.
    pub(crate) action: String,
    /// An ARN, or `*` of actions that know no resource.
    pub(crate) resource: String,
    /// What conditions may ask for.
    pub(crate) keys: Vec<(ConditionKey, Vec<String>)>,
}

impl Ask {
    /// Without keys.
    pub(crate) fn new(action: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { action: action.into(), resource: resource.into(), keys: vec![] }
    }

    /// With one more key.
    pub(crate) fn with(mut self, key: ConditionKey, values: Vec<String>) -> Self {
        self.keys.push((key, values));
        self
    }

    /// The values of a key, if the request has it.
    pub(super) fn values(&self, key: ConditionKey) -> Option<&[String]> {
        self.keys.iter().find(|(own, _)| *own == key).map(|(_, values)| values.as_slice())
    }
}
