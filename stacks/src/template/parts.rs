//! Parameters and outputs of a template.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::expression::Expression;

/// A value that is supplied when the stack is deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Parameter {
    #[serde(default)]
    pub description: String,
    /// The CloudFormation type of the parameter. This crate writes only the type `String`.
    #[serde(rename = "Type")]
    pub parameter_type: String,
    /// The default value. The parameters of the Cellar stack have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A value that can be read from the deployed stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Output {
    #[serde(default)]
    pub description: String,
    /// The value of the output. It may contain intrinsic functions.
    pub value: Value,
}

impl Parameter {
    /// Creates a string parameter without a default value.
    pub fn text(description: &str) -> Self {
        Self {
            description: description.to_owned(),
            parameter_type: "String".to_owned(),
            default: None,
        }
    }
}

impl Output {
    pub fn new(description: &str, value: impl Into<Expression>) -> Self {
        Self { description: description.to_owned(), value: value.into().into() }
    }
}

impl From<&Parameter> for Value {
    fn from(parameter: &Parameter) -> Self {
        let mut value = json!({
            "Description": parameter.description,
            "Type": parameter.parameter_type,
        });
        if let (Some(map), Some(default)) = (value.as_object_mut(), &parameter.default) {
            map.insert("Default".to_owned(), default.as_str().into());
        }
        value
    }
}

impl From<&Output> for Value {
    fn from(output: &Output) -> Self {
        json!({ "Description": output.description, "Value": output.value })
    }
}
