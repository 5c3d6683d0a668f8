//! Reads and normalizes the two templates of a comparison. Equivalent templates have the same
//! normal form.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde::de::DeserializeSeed as _;
use serde_json::Value;
use thiserror::Error;

use super::bounded::BoundedValue;
use super::limits::DOCUMENT_SIZE_MAX;
use super::normal::normalize;
use crate::brackets::{BRACKET_DEPTH_MAX, bracket_depth};
use crate::constructs::ResourceType;
use crate::template::Template;
use crate::template::limits::TEMPLATE_BYTES_MAX;

/// Section to ignore.
const FORMAT_VERSION: &str = "AWSTemplateFormatVersion";
const RESOURCES: &str = "Resources";

/// The reason why one of the compared templates could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DocumentError {
    #[error("the template is {bytes} bytes long, but at most {TEMPLATE_BYTES_MAX} are allowed")]
    TooLarge { bytes: usize },
    #[error("the text is neither a JSON nor a YAML template: {message}")]
    Malformed {
        /// Parser message, including the position.
        message: String,
    },
    /// The text is valid JSON or YAML, but is not a template.
    #[error("the text is not a template: {reason}")]
    NoTemplate { reason: String },
}

/// A normalized template. Unlike [`Template`], it may contain sections and resource types that
/// Cellar does not write, for example because the template was edited manually.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// All sections except resources.
    pub(super) sections: BTreeMap<String, Value>,
    /// The resources by logical id. Each resource is a map that contains a `Type`.
    pub(super) resources: BTreeMap<String, Value>,
}

impl Document {
    /// Reads a JSON or YAML template.
    ///
    /// # Errors
    /// Returns a [`DocumentError`] if the text is too large, malformed, or not a template.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(DocumentError::TooLarge { bytes: text.len() });
        }
        let is_json = text.trim_start().starts_with('{');
        let parsed_value = if is_json { parse_json(text) } else { parse_yaml(text) };
        let value = parsed_value.map_err(|message| DocumentError::Malformed { message })?;
        Self::from_value(value)
    }

    fn from_value(value: Value) -> Result<Self, DocumentError> {
        let no_template = |reason: &str| DocumentError::NoTemplate { reason: reason.to_owned() };
        let Value::Object(mut sections) = value else {
            return Err(no_template("the text is not a map"));
        };
        let Some(Value::Object(resources)) = sections.remove(RESOURCES) else {
            return Err(no_template("the section `Resources` is missing"));
        };
        let mut document = Self::empty();
        for (logical_id, resource) in resources {
            if resource.get("Type").and_then(Value::as_str).is_none() {
                return Err(no_template(&format!("the resource `{logical_id}` has no `Type`")));
            }
            document.add_resource(logical_id, resource);
        }
        for (name, section) in sections {
            document.add_section(name, section);
        }
        Ok(document)
    }

    fn add_resource(&mut self, logical_id: String, resource: Value) {
        let normalized = normalize(known_type(&resource), &mut Vec::new(), resource);
        self.resources.insert(logical_id, normalized);
    }

    /// No-op for `AWSTemplateFormatVersion`, which has only one possible value.
    fn add_section(&mut self, name: String, section: Value) {
        if name != FORMAT_VERSION {
            self.sections.insert(name, normalize(None, &mut Vec::new(), section));
        }
    }

    /// Returns the logical ids of the resources in sorted order.
    pub fn logical_ids(&self) -> impl Iterator<Item = &str> {
        self.resources.keys().map(String::as_str)
    }

    /// Returns the resources with their logical ids, sorted by logical id. Each resource is a map
    /// that contains a `Type`.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.resources.iter().map(|(logical_id, resource)| (logical_id.as_str(), resource))
    }

    /// Returns the description of the template.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.sections.get("Description")?.as_str()
    }

    /// Represents a stack that does not exist yet.
    pub(super) const fn empty() -> Self {
        Self { sections: BTreeMap::new(), resources: BTreeMap::new() }
    }
}

impl From<&Template> for Document {
    fn from(template: &Template) -> Self {
        let mut document = Self::empty();
        if let Value::Object(mut sections) = template.to_value() {
            sections.remove(RESOURCES);
            for (name, section) in sections {
                document.add_section(name, section);
            }
        }
        for (logical_id, resource) in template.resources() {
            document.add_resource(logical_id.to_owned(), Value::from(resource));
        }
        document
    }
}

fn parse_json(text: &str) -> Result<Value, String> {
    let budget = Cell::new(DOCUMENT_SIZE_MAX);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = BoundedValue::new(&budget)
        .deserialize(&mut deserializer)
        .map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

fn parse_yaml(text: &str) -> Result<Value, String> {
    if bracket_depth(text) > BRACKET_DEPTH_MAX {
        return Err(format!("brackets are nested more than {BRACKET_DEPTH_MAX} levels deep"));
    }
    let budget = Cell::new(DOCUMENT_SIZE_MAX);
    let deserializer = serde_yaml::Deserializer::from_str(text);
    BoundedValue::new(&budget).deserialize(deserializer).map_err(|error| error.to_string())
}

pub(super) fn type_name(resource: &Value) -> &str {
    resource.get("Type").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the type of a resource, or `None` if this crate has no construct for the type.
pub(super) fn known_type(resource: &Value) -> Option<ResourceType> {
    ResourceType::from_name(type_name(resource))
}

pub(super) fn property<'a>(resource: &'a Value, path: &[&str]) -> Option<&'a Value> {
    value_at(resource.get("Properties")?, path)
}

pub(super) fn value_at<'a>(map: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(map, |inner_map, name| inner_map.get(name))
}

/// Returns the value of a resource's `DeletionPolicy` or `UpdateReplacePolicy`, or the default
/// `Delete`.
pub(super) fn removal_policy<'a>(resource: &'a Value, policy_name: &str) -> &'a str {
    resource.get(policy_name).and_then(Value::as_str).unwrap_or("Delete")
}

/// Returns whether CloudFormation retains a resource that has this removal policy.
pub(super) fn is_retained(removal_policy: &str) -> bool {
    removal_policy.starts_with("Retain")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Config, cellar_stack};

    #[test]
    fn json_and_yaml_of_a_template_are_the_same_document() {
        let template = cellar_stack(&Config::default(), Architecture::Arm64).unwrap();
        let document = Document::from(&template);
        assert_eq!(Document::read(&template.to_json()).unwrap(), document);
        assert_eq!(Document::read(&template.to_yaml()).unwrap(), document);
    }

    #[test]
    fn texts_that_are_not_templates_are_rejected() {
        for (text, message) in [
            ("", "not a map"),
            ("[]", "not a map"),
            ("{}", "`Resources` is missing"),
            ("Resources: 1", "`Resources` is missing"),
            ("Resources: {A: {Properties: {}}}", "resource `A` has no `Type`"),
            ("{\"Resources\": {}} x", "trailing characters"),
            ("{\"Resources\": {}, \"Resources\": {}}", "occurs twice"),
            ("Resources: {A: {Type: T, Properties: {B: !Ref C}}}", "without tags"),
            ("\u{0}", "the text is neither a JSON nor a YAML template"),
        ] {
            let error = Document::read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn the_size_is_bounded() {
        let padded = |bytes: usize| format!("{}{}", r#"{"Resources": {}}"#, " ".repeat(bytes - 17));
        assert!(Document::read(&padded(TEMPLATE_BYTES_MAX)).is_ok());
        assert_eq!(
            Document::read(&padded(TEMPLATE_BYTES_MAX + 1)),
            Err(DocumentError::TooLarge { bytes: TEMPLATE_BYTES_MAX + 1 })
        );
    }

    #[test]
    fn aliases_do_not_grow_beyond_the_bound() {
        let with = |aliases: usize| {
            let aliases = vec!["*a"; aliases].join(", ");
            format!(
                "Metadata:\n  a: &a {}\n  b: [{aliases}]\nResources: {{}}\n",
                "x".repeat(100_000)
            )
        };
        assert!(Document::read(&with(10)).is_ok());
        let text = with(20);
        let error = Document::read(&text).unwrap_err().to_string();
        assert!(error.contains("aliases expand the text"), "{error}");
    }

    #[test]
    fn nesting_is_bounded() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("- ", ""), ("? ", "")] {
            let many = (TEMPLATE_BYTES_MAX - 100) / (open.len() + close.len());
            let deep = format!("{}1{}", open.repeat(many), close.repeat(many));
            assert!(Document::read(&format!("{{\"Resources\": {{}}, \"A\": {deep}}}")).is_err());
            assert!(Document::read(&format!("Resources: {{}}\nA:\n  {deep}\n")).is_err());
        }
    }

    #[test]
    fn brackets_in_strings_count_towards_the_bound() {
        let with = |brackets: usize| {
            format!("Resources: {{}}\nDescription: \"{}\"\n", "[".repeat(brackets))
        };
        assert!(Document::read(&with(BRACKET_DEPTH_MAX)).is_ok());
        let error = Document::read(&with(BRACKET_DEPTH_MAX + 1)).unwrap_err().to_string();
        assert!(error.contains("more than 1000 levels"), "{error}");
    }
}
