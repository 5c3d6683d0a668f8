//! Strings in a template that CloudFormation computes during deployment, and the intrinsic
//! functions that compute them.

mod read;
mod references;
mod substitution;

use serde_json::{Map, Value, json};

pub(crate) use read::{Intrinsic, parse_intrinsic};
pub use read::{IntrinsicError, NESTING_MAX};
pub(crate) use references::{Reference, references_in};
pub use substitution::{SubstitutionError, SubstitutionPart, parse_substitution};

/// The names of intrinsic functions in a template.
pub mod intrinsic {
    /// The value of a parameter, or the physical name of a resource.
    pub const REF: &str = "Ref";
    /// Attribute of a resource.
    pub const GET_ATT: &str = "Fn::GetAtt";
    /// Values joined with a separator.
    pub const JOIN: &str = "Fn::Join";
    /// Text with `${…}` placeholders.
    pub const SUB: &str = "Fn::Sub";
    /// All intrinsic functions that this crate supports.
    pub const ALL: [&str; 4] = [REF, GET_ATT, JOIN, SUB];
}

/// The pseudo parameters whose value is a single string. CloudFormation sets their values.
pub const PSEUDO_PARAMETERS: [&str; 6] = [
    "AWS::AccountId",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
];

/// A string in a template. It is either literal, or CloudFormation computes it during deployment.
///
/// An expression that a [`Handle`](crate::constructs::Handle) returns always references an existing
/// resource. If the logical id was given as a string, the reference is validated when the stack is
/// synthesized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A literal text.
    Literal(String),
    /// `Ref`: the value of a parameter, or the physical name of a resource.
    Reference {
        /// The name of a parameter or pseudo parameter, or the logical id of a resource.
        logical_id: String,
    },
    /// `Fn::GetAtt`.
    Attribute {
        logical_id: String,
        /// Attribute name, such as `Arn`.
        attribute: String,
    },
    /// `Fn::Join`.
    Join { separator: String, parts: Vec<Expression> },
    /// `Fn::Sub`: text with placeholders such as `${LogicalId}`, `${LogicalId.Attribute}` and
    /// `${variable}`.
    Substitution {
        text: String,
        /// The name and the value of each variable.
        variables: Vec<(String, Expression)>,
    },
}

impl Expression {
    /// Creates a literal text.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::Literal(text.into())
    }

    /// Creates a `Ref` to a resource, a parameter or a pseudo parameter.
    pub fn reference(logical_id: impl Into<String>) -> Self {
        Self::Reference { logical_id: logical_id.into() }
    }

    /// Creates a `Fn::GetAtt` of a resource.
    pub fn attribute(logical_id: impl Into<String>, attribute: impl Into<String>) -> Self {
        Self::Attribute { logical_id: logical_id.into(), attribute: attribute.into() }
    }

    /// Creates an `Fn::Join` that concatenates `parts` without a separator.
    pub fn concatenation(parts: impl Into<Vec<Self>>) -> Self {
        Self::Join { separator: String::new(), parts: parts.into() }
    }

    /// Creates an `Fn::Sub` without variables. Its placeholders may reference only resources and
    /// parameters.
    pub fn substitution(text: impl Into<String>) -> Self {
        Self::Substitution { text: text.into(), variables: Vec::new() }
    }

    /// Creates a `Ref` to the stack name.
    pub fn stack_name() -> Self {
        Self::reference("AWS::StackName")
    }
}

impl From<&str> for Expression {
    fn from(text: &str) -> Self {
        Self::literal(text)
    }
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        Self::Literal(text)
    }
}

impl From<Expression> for Value {
    fn from(expression: Expression) -> Self {
        match expression {
            Expression::Literal(text) => Self::String(text),
            Expression::Reference { logical_id } => json!({ intrinsic::REF: logical_id }),
            Expression::Attribute { logical_id, attribute } => {
                json!({ intrinsic::GET_ATT: [logical_id, attribute] })
            }
            Expression::Join { separator, parts } => {
                let part_values: Vec<Self> = parts.into_iter().map(Self::from).collect();
                json!({ intrinsic::JOIN: [separator, part_values] })
            }
            Expression::Substitution { text, variables } => substitution_value(&text, variables),
        }
    }
}

fn substitution_value(text: &str, variables: Vec<(String, Expression)>) -> Value {
    if variables.is_empty() {
        return json!({ intrinsic::SUB: text });
    }
    let variable_values: Map<String, Value> =
        variables.into_iter().map(|(name, expression)| (name, expression.into())).collect();
    json!({ intrinsic::SUB: [text, variable_values] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_expression_becomes_its_intrinsic() {
        let table = Expression::attribute("Table", "Arn");
        for (expression, wanted) in [
            (Expression::from("plain"), json!("plain")),
            (Expression::stack_name(), json!({"Ref": "AWS::StackName"})),
            (table.clone(), json!({"Fn::GetAtt": ["Table", "Arn"]})),
            (
                Expression::concatenation([table.clone(), "/*".into()]),
                json!({"Fn::Join": ["", [{"Fn::GetAtt": ["Table", "Arn"]}, "/*"]]}),
            ),
            (Expression::substitution("${Table}-x"), json!({"Fn::Sub": "${Table}-x"})),
            (
                Expression::Substitution {
                    text: "${name}".to_owned(),
                    variables: vec![("name".to_owned(), table)],
                },
                json!({"Fn::Sub": ["${name}", {"name": {"Fn::GetAtt": ["Table", "Arn"]}}]}),
            ),
        ] {
            assert_eq!(Value::from(expression), wanted);
        }
    }
}
