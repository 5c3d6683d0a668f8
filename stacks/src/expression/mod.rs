//! Values of a template that are known only once it is deployed, and their intrinsic functions.

mod read;
mod substitution;

use serde_json::{Value, json};

pub(crate) use read::{Intrinsic, intrinsic_in};
pub use read::{IntrinsicError, NESTING_MAX};
pub use substitution::{SubstitutionError, SubstitutionPart, parse_substitution};

/// Names the intrinsic functions in a template.
pub mod intrinsic {
    /// The value of a parameter, or the name of a resource.
    pub const REF: &str = "Ref";
    /// An attribute of a resource.
    pub const GET_ATT: &str = "Fn::GetAtt";
    /// Several values with a separator between them.
    pub const JOIN: &str = "Fn::Join";
    /// A text with `${…}` in it.
    pub const SUB: &str = "Fn::Sub";
    /// All that this crate writes, checks and resolves.
    pub const ALL: [&str; 4] = [REF, GET_ATT, JOIN, SUB];
}

/// Parameters that CloudFormation itself sets and that stand for one string each.
pub const PSEUDO_PARAMETERS: [&str; 6] = [
    "AWS::AccountId",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
];

/// A string in a template: written out, or found when the template is deployed.
///
/// References come from the handle of a construct, which cannot name something that is not
/// there; those built from plain strings are checked when the stack is synthesized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// The text itself.
    Literal(String),
    /// `Ref`: the value of a parameter, or the name of a resource.
    Reference {
        /// A resource, a parameter or a pseudo parameter.
        logical_id: String,
    },
    /// `Fn::GetAtt`.
    Attribute {
        /// The resource.
        logical_id: String,
        /// Its attribute, such as `Arn`.
        attribute: String,
    },
    /// `Fn::Join`.
    Join {
        /// Text between the parts.
        separator: String,
        /// What is joined.
        parts: Vec<Expression>,
    },
    /// `Fn::Sub`: a text with `${LogicalId}`, `${LogicalId.Attribute}` or `${variable}`.
    Substitution {
        /// The text.
        text: String,
        /// Variables of the text that are no resources and no parameters.
        variables: Vec<(String, Expression)>,
    },
}

impl Expression {
    /// A text that is known now.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::Literal(text.into())
    }

    /// `Ref` to a resource, a parameter or a pseudo parameter by its name.
    pub fn reference(logical_id: impl Into<String>) -> Self {
        Self::Reference { logical_id: logical_id.into() }
    }

    /// `Fn::GetAtt` of a resource by its name.
    pub fn attribute(logical_id: impl Into<String>, attribute: impl Into<String>) -> Self {
        Self::Attribute { logical_id: logical_id.into(), attribute: attribute.into() }
    }

    /// `Fn::Join` of the parts without a separator.
    pub fn concatenation(parts: impl Into<Vec<Self>>) -> Self {
        Self::Join { separator: String::new(), parts: parts.into() }
    }

    /// `Fn::Sub` whose variables are all resources or parameters.
    pub fn substitution(text: impl Into<String>) -> Self {
        Self::Substitution { text: text.into(), variables: Vec::new() }
    }

    /// `Ref` to the name of the stack.
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
                let parts: Vec<Self> = parts.into_iter().map(Self::from).collect();
                json!({ intrinsic::JOIN: [separator, parts] })
            }
            Expression::Substitution { text, variables } if variables.is_empty() => {
                json!({ intrinsic::SUB: text })
            }
            Expression::Substitution { text, variables } => {
                let variables: serde_json::Map<String, Self> =
                    variables.into_iter().map(|(name, value)| (name, value.into())).collect();
                json!({ intrinsic::SUB: [text, variables] })
            }
        }
    }
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
