//! One side of a comparison: any template, brought into a form in which equal things are equal.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde::de::DeserializeSeed as _;
use serde_json::Value;
use thiserror::Error;

use super::bounded::Bounded;
use super::limits::DOCUMENT_SIZE_MAX;
use super::normal::normal;
use crate::brackets::{OPEN_BRACKETS_MAX, open_brackets};
use crate::constructs::ResourceType;
use crate::stack::limits::TEMPLATE_BYTES_MAX;
use crate::template::Template;

/// Sections that say nothing: there is one format version.
const FORMAT_VERSION: &str = "AWSTemplateFormatVersion";
const RESOURCES: &str = "Resources";

/// Why a text cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// Larger than CloudFormation accepts.
    #[error("the template has {bytes} bytes; at most {TEMPLATE_BYTES_MAX} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Neither JSON nor YAML.
    #[error("this is no template in JSON or YAML: {message}")]
    Malformed {
        /// What the parser said, with the place.
        message: String,
    },
    /// Something else than a template.
    #[error("this is no template: {what}")]
    NoTemplate {
        /// What is missing or wrong.
        what: String,
    },
}

/// A template as it is compared: that of Cellar, of another version of it, or what somebody made of
/// it by hand. Unlike [`Template`], it takes sections and types that Cellar does not write.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// All sections but the resources.
    pub(super) sections: BTreeMap<String, Value>,
    /// Resources by their logical ids. Each is a map with a `Type`.
    pub(super) resources: BTreeMap<String, Value>,
}

impl Document {
    /// Reads a template in JSON or YAML.
    ///
    /// # Errors
    /// [`DocumentError`], if it is too large, malformed, or no template.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(DocumentError::TooLarge { bytes: text.len() });
        }
        let left = Cell::new(DOCUMENT_SIZE_MAX);
        let malformed = |message: String| DocumentError::Malformed { message };
        let value = if text.trim_start().starts_with('{') {
            let mut json = serde_json::Deserializer::from_str(text);
            let value = Bounded::new(&left).deserialize(&mut json);
            let value = value.map_err(|error| malformed(error.to_string()))?;
            json.end().map_err(|error| malformed(error.to_string()))?;
            value
        } else {
            if open_brackets(text) > OPEN_BRACKETS_MAX {
                let message = format!("more than {OPEN_BRACKETS_MAX} brackets are open at a time");
                return Err(DocumentError::Malformed { message });
            }
            let yaml = serde_yaml::Deserializer::from_str(text);
            Bounded::new(&left).deserialize(yaml).map_err(|error| malformed(error.to_string()))?
        };
        Self::of(value)
    }

    fn of(value: Value) -> Result<Self, DocumentError> {
        let no_template = |what: &str| DocumentError::NoTemplate { what: what.to_owned() };
        let Value::Object(mut sections) = value else {
            return Err(no_template("it is not a map of sections"));
        };
        let Some(Value::Object(resources)) = sections.remove(RESOURCES) else {
            return Err(no_template("it has no section `Resources`"));
        };
        let mut found = BTreeMap::new();
        for (logical_id, resource) in resources {
            if resource.get("Type").and_then(Value::as_str).is_none() {
                let what = format!("`{logical_id}` of its `Resources` has no `Type`");
                return Err(DocumentError::NoTemplate { what });
            }
            let resource = normal(known_type(&resource), &mut Vec::new(), resource);
            found.insert(logical_id, resource);
        }
        sections.remove(FORMAT_VERSION);
        let sections = sections
            .into_iter()
            .map(|(name, section)| (name, normal(None, &mut Vec::new(), section)));
        Ok(Self { sections: sections.collect(), resources: found })
    }

    /// The logical ids of its resources, sorted.
    pub fn logical_ids(&self) -> impl Iterator<Item = &str> {
        self.resources.keys().map(String::as_str)
    }

    /// A template without anything in it: the other side of a stack that is not there.
    pub(super) const fn empty() -> Self {
        Self { sections: BTreeMap::new(), resources: BTreeMap::new() }
    }
}

impl From<&Template> for Document {
    fn from(template: &Template) -> Self {
        let mut document = Self::empty();
        if let Value::Object(sections) = template.to_value() {
            for (name, section) in sections {
                if name != RESOURCES && name != FORMAT_VERSION {
                    document.sections.insert(name, normal(None, &mut Vec::new(), section));
                }
            }
        }
        for (logical_id, resource) in template.resources() {
            let resource = Value::from(resource);
            let resource = normal(known_type(&resource), &mut Vec::new(), resource);
            document.resources.insert(logical_id.to_owned(), resource);
        }
        document
    }
}

/// The `Type` of a resource.
pub(super) fn type_name(resource: &Value) -> &str {
    resource.get("Type").and_then(Value::as_str).unwrap_or_default()
}

/// The type of a resource, if there is a construct for it.
pub(super) fn known_type(resource: &Value) -> Option<ResourceType> {
    ResourceType::named(type_name(resource))
}

/// A property of a resource, by the names that lead to it.
pub(super) fn property<'a>(resource: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(resource.get("Properties")?, |value, name| value.get(name))
}

/// What a policy such as `DeletionPolicy` says, as text.
pub(super) fn policy<'a>(resource: &'a Value, name: &str) -> &'a str {
    resource.get(name).and_then(Value::as_str).unwrap_or("Delete")
}

/// Whether CloudFormation leaves a resource behind that goes by such a policy.
pub(super) fn keeps(policy: &str) -> bool {
    policy.starts_with("Retain")
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
    fn what_is_no_template_is_refused() {
        for (text, message) in [
            ("", "not a map"),
            ("[]", "not a map"),
            ("{}", "no section `Resources`"),
            ("Resources: 1", "no section `Resources`"),
            ("Resources: {A: {Properties: {}}}", "`A` of its `Resources` has no `Type`"),
            ("{\"Resources\": {}} x", "trailing characters"),
            ("{\"Resources\": {}, \"Resources\": {}}", "stands there twice"),
            ("Resources: {A: {Type: T, Properties: {B: !Ref C}}}", "without tags"),
            ("\u{0}", "no template in JSON or YAML"),
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
        assert!(error.contains("repeats parts of itself"), "{error}");
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
    fn brackets_in_texts_are_no_nesting_up_to_the_bound() {
        let with = |brackets: usize| {
            format!("Resources: {{}}\nDescription: \"{}\"\n", "[".repeat(brackets))
        };
        assert!(Document::read(&with(OPEN_BRACKETS_MAX)).is_ok());
        let error = Document::read(&with(OPEN_BRACKETS_MAX + 1)).unwrap_err().to_string();
        assert!(error.contains("more than 1000 brackets"), "{error}");
    }
}
