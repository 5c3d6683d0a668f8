//! A finished template: written as JSON for deployment and YAML for people, read back, resolved.
//!
//! Sections come in CloudFormation's usual order. Everything inside them is sorted by name,
//! except that a resource's `Type` comes first, so that the same stack gives the same bytes
//! whatever the order in which it was put together.

mod json;
mod order;
mod read;
mod resolve;
mod yaml;
mod yaml_scalar;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::constructs::RemovalPolicy;
use crate::stack::{Holder, Output, Parameter, Place};

pub use read::TemplateError;
pub use resolve::{Lookup, ResolveError, ResolveFault};

/// The only version that CloudFormation knows.
const FORMAT_VERSION: &str = "2010-09-09";

/// A CloudFormation template. Made by [`Stack::synthesize`](crate::stack::Stack::synthesize) or
/// [`Template::from_json`].
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(crate) description: String,
    pub(crate) parameters: BTreeMap<String, Parameter>,
    pub(crate) resources: BTreeMap<String, Resource>,
    pub(crate) outputs: BTreeMap<String, Output>,
}

/// One resource of a template. Equal ones may have been made in different places.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Resource {
    /// Its type, such as `AWS::DynamoDB::Table`.
    #[serde(rename = "Type")]
    pub resource_type: String,
    /// What happens to it when the stack goes, if the template says so.
    #[serde(default)]
    pub deletion_policy: Option<String>,
    /// What happens to it when an update replaces it, if the template says so.
    #[serde(default)]
    pub update_replace_policy: Option<String>,
    /// Resources that have to be made before it, besides those that it refers to.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Reasons and suppressions.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Its properties, with intrinsic functions in them; see [`Template::resolve`].
    #[serde(default)]
    pub properties: Map<String, Value>,
    /// Where in the source it was made; a template that was read does not know.
    #[serde(skip)]
    pub made_in: Option<Place>,
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
            made_in: _,
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

    /// What the template says of itself.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// All resources with their logical ids, sorted by these.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Resource)> {
        self.resources.iter().map(|(logical_id, resource)| (logical_id.as_str(), resource))
    }

    /// The resource with that logical id.
    pub fn resource(&self, logical_id: &str) -> Option<&Resource> {
        self.resources.get(logical_id)
    }

    /// All parameters with their names, sorted by these.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Parameter)> {
        self.parameters.iter().map(|(name, parameter)| (name.as_str(), parameter))
    }

    /// All outputs with their names, sorted by these.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &Output)> {
        self.outputs.iter().map(|(name, output)| (name.as_str(), output))
    }

    /// The type of a resource, or `parameter`.
    pub(crate) fn kind_of(&self, logical_id: &str) -> Option<&str> {
        match self.resources.get(logical_id) {
            Some(resource) => Some(&resource.resource_type),
            None => self.parameters.contains_key(logical_id).then_some(Holder::PARAMETER),
        }
    }

    /// The template as deployed: JSON, byte for byte the same for the same stack, with a newline
    /// at its end.
    pub fn to_json(&self) -> String {
        json::document(&self.to_value())
    }

    /// The template for people: YAML in which no string can be read as anything else, by YAML
    /// 1.1 or 1.2. Intrinsic functions have their long names.
    pub fn to_yaml(&self) -> String {
        yaml::document(&self.to_value())
    }

    /// The template as one JSON value, without the order of [`Template::to_json`].
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

/// CloudFormation refuses empty sections.
fn insert_section<'a, T>(
    sections: &mut Map<String, Value>,
    name: &str,
    entries: &'a BTreeMap<String, T>,
) where
    Value: From<&'a T>,
{
    if !entries.is_empty() {
        let entries: Map<String, Value> =
            entries.iter().map(|(name, entry)| (name.clone(), Value::from(entry))).collect();
        sections.insert(name.to_owned(), Value::Object(entries));
    }
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
            made_in: None,
        }
    }

    /// Says what happens to it when the stack goes and when an update replaces it.
    pub(crate) fn on_removal(&mut self, removal: RemovalPolicy) {
        self.deletion_policy = Some(removal.deletion_policy().to_owned());
        self.update_replace_policy = Some(removal.update_replace_policy().to_owned());
    }
}

impl From<&Resource> for Value {
    fn from(resource: &Resource) -> Self {
        let mut fields = Map::new();
        let mut insert = |name: &str, value: Self| fields.insert(name.to_owned(), value);
        insert("Type", resource.resource_type.as_str().into());
        if let Some(policy) = &resource.deletion_policy {
            insert("DeletionPolicy", policy.as_str().into());
        }
        if let Some(policy) = &resource.update_replace_policy {
            insert("UpdateReplacePolicy", policy.as_str().into());
        }
        if !resource.depends_on.is_empty() {
            insert("DependsOn", resource.depends_on.clone().into());
        }
        if !resource.metadata.is_empty() {
            insert("Metadata", resource.metadata.clone().into());
        }
        insert("Properties", resource.properties.clone().into());
        Self::Object(fields)
    }
}
