//! Finished templates. A template can be written as JSON for deployment and as YAML for people. It
//! can also be read from JSON, and its intrinsic functions can be resolved.
//!
//! The order of the output does not depend on the order in which parts were added to a stack.
//! Sections are in CloudFormation's usual order, the entries of a section are sorted by name, and
//! the first key of a resource is `Type`.

mod json;
pub mod limits;
mod order;
mod parts;
mod read;
mod resolve;
mod source_line;
mod yaml;
mod yaml_scalar;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::constructs::RemovalPolicy;

pub use parts::{Output, Parameter};
pub use read::TemplateError;
pub use resolve::{DeployedValues, ResolveError, ResolveFault};
pub use source_line::SourceLine;

/// Only one version exists.
const FORMAT_VERSION: &str = "2010-09-09";

/// The word that error messages use for a parameter instead of a resource type.
pub(crate) const PARAMETER_KIND: &str = "parameter";

/// A CloudFormation template, created by [`Stack::synthesize`](crate::stack::Stack::synthesize) or
/// [`Template::from_json`].
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(crate) description: String,
    pub(crate) parameters: BTreeMap<String, Parameter>,
    pub(crate) resources: BTreeMap<String, Resource>,
    pub(crate) outputs: BTreeMap<String, Output>,
}

/// A resource in a template. Resources that differ only in `source_line` are equal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Resource {
    /// The CloudFormation type, such as `AWS::DynamoDB::Table`.
    #[serde(rename = "Type")]
    pub resource_type: String,
    /// The action that CloudFormation takes when the resource is removed from the stack. `None`
    /// means
    /// `Delete`.
    #[serde(default)]
    pub deletion_policy: Option<String>,
    /// The action that CloudFormation takes on the old resource when an update replaces it. `None`
    /// means
    /// `Delete`.
    #[serde(default)]
    pub update_replace_policy: Option<String>,
    /// The logical ids of resources that must be created before this resource. Resources that the
    /// properties reference need not be listed.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// The metadata, such as the reasons for wildcard permissions and the suppressed linter rules.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The properties of the resource. They may contain intrinsic functions, which
    /// [`Template::resolve`] replaces.
    #[serde(default)]
    pub properties: Map<String, Value>,
    /// The source line that added the resource, or `None` if the template was read from JSON.
    #[serde(skip)]
    pub source_line: Option<SourceLine>,
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            resource_type,
            deletion_policy,
            update_replace_policy,
            depends_on,
            metadata,
            properties,
            source_line: _,
        } = self;
        *resource_type == other.resource_type
            && *deletion_policy == other.deletion_policy
            && *update_replace_policy == other.update_replace_policy
            && *depends_on == other.depends_on
            && *metadata == other.metadata
            && *properties == other.properties
    }
}

impl Template {
    pub(crate) fn empty(description: &str) -> Self {
        Self {
            description: description.to_owned(),
            parameters: BTreeMap::new(),
            resources: BTreeMap::new(),
            outputs: BTreeMap::new(),
        }
    }

    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns all resources with their logical ids, sorted by logical id.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Resource)> {
        self.resources.iter().map(|(logical_id, resource)| (logical_id.as_str(), resource))
    }

    pub fn resource(&self, logical_id: &str) -> Option<&Resource> {
        self.resources.get(logical_id)
    }

    /// Returns all parameters with their names, sorted by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.parameters.iter().map(|(name, parameter)| (name.as_str(), parameter))
    }

    /// Returns all outputs with their names, sorted by name.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &Output)> {
        self.outputs.iter().map(|(name, output)| (name.as_str(), output))
    }

    /// Returns the type of the resource with this logical id, or [`PARAMETER_KIND`] if the logical
    /// id is a parameter's. Returns `None` if the logical id does not exist.
    pub(crate) fn kind_of_logical_id(&self, logical_id: &str) -> Option<&str> {
        if let Some(resource) = self.resources.get(logical_id) {
            return Some(&resource.resource_type);
        }
        if self.parameters.contains_key(logical_id) {
            return Some(PARAMETER_KIND);
        }
        None
    }

    /// Returns the template as JSON that ends with a newline. Equal templates yield identical
    /// bytes.
    pub fn to_json(&self) -> String {
        json::to_document(&self.to_value())
    }

    /// Returns the template as readable YAML.
    ///
    /// Strings that a parser for YAML 1.1 or 1.2 could read as another type are quoted. Intrinsic
    /// functions are written with their long names.
    pub fn to_yaml(&self) -> String {
        yaml::to_document(&self.to_value())
    }

    /// Returns the template as a JSON value. The order of entries may differ from the output of
    /// [`Template::to_json`].
    pub fn to_value(&self) -> Value {
        let mut document = json!({
            "AWSTemplateFormatVersion": FORMAT_VERSION,
            "Description": self.description,
        });
        if let Value::Object(sections) = &mut document {
            insert_section(sections, "Parameters", &self.parameters);
            insert_section(sections, "Resources", &self.resources);
            insert_section(sections, "Outputs", &self.outputs);
        }
        document
    }
}

/// Returns a CloudFormation document that is not a [`Template`] of Cellar as readable YAML, in the
/// format of [`Template::to_yaml`].
pub fn document_to_yaml(document: &Value) -> String {
    yaml::to_document(document)
}

/// CloudFormation rejects empty sections.
fn insert_section<'a, T>(
    sections: &mut Map<String, Value>,
    section_name: &str,
    entries: &'a BTreeMap<String, T>,
) where
    Value: From<&'a T>,
{
    if entries.is_empty() {
        return;
    }
    let section: Map<String, Value> =
        entries.iter().map(|(name, entry)| (name.clone(), Value::from(entry))).collect();
    sections.insert(section_name.to_owned(), Value::Object(section));
}

impl Resource {
    pub(crate) fn new(resource_type: &str, properties: Map<String, Value>) -> Self {
        Self {
            resource_type: resource_type.to_owned(),
            deletion_policy: None,
            update_replace_policy: None,
            depends_on: Vec::new(),
            metadata: Map::new(),
            properties,
            source_line: None,
        }
    }

    pub(crate) fn set_removal_policy(&mut self, removal: RemovalPolicy) {
        self.deletion_policy = Some(removal.deletion_policy().to_owned());
        self.update_replace_policy = Some(removal.update_replace_policy().to_owned());
    }
}

impl From<&Resource> for Value {
    fn from(resource: &Resource) -> Self {
        let mut fields = Map::new();
        fields.insert("Type".to_owned(), resource.resource_type.as_str().into());
        if let Some(policy) = &resource.deletion_policy {
            fields.insert("DeletionPolicy".to_owned(), policy.as_str().into());
        }
        if let Some(policy) = &resource.update_replace_policy {
            fields.insert("UpdateReplacePolicy".to_owned(), policy.as_str().into());
        }
        if !resource.depends_on.is_empty() {
            fields.insert("DependsOn".to_owned(), resource.depends_on.clone().into());
        }
        if !resource.metadata.is_empty() {
            fields.insert("Metadata".to_owned(), resource.metadata.clone().into());
        }
        fields.insert("Properties".to_owned(), resource.properties.clone().into());
        Self::Object(fields)
    }
}
