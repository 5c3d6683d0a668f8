//! A builder for the `Properties` of a resource.

use serde_json::{Map, Value};

#[derive(Default)]
pub(super) struct Properties(Map<String, Value>);

impl Properties {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// No-op if the value is `None`.
    pub(super) fn set_option(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.0
    }
}

impl From<Properties> for Value {
    fn from(properties: Properties) -> Self {
        Self::Object(properties.0)
    }
}
