//! `AWS::SNS::Topic`.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, ResourceType};

/// A topic that sends what it is told to one e-mail address. It costs nothing while it has nothing
/// to tell, and the first thousand e-mails of a month are free.
///
/// Its policy is the one that SNS gives it: the account's own alarms may publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    email: String,
    key: Option<String>,
}

impl Topic {
    /// A topic whose e-mails begin once the owner of the address has confirmed it.
    pub fn to_email(email: &str) -> Self {
        Self { email: email.to_owned(), key: None }
    }

    /// Encrypts it with a customer's key, by its ARN, whose policy has to let CloudWatch use it.
    #[must_use]
    pub fn encrypted_with(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }
}

impl Construct for Topic {
    const TYPE: ResourceType = ResourceType::Topic;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set_option("KmsMasterKeyId", self.key)
            .set("Subscription", json!([{ "Endpoint": self.email, "Protocol": "email" }]))
            .into_map()
    }
}
