//! Parses the intrinsic functions in template JSON.

use serde_json::{Map, Value};
use thiserror::Error;

use super::intrinsic;

/// The maximum nesting depth of values. Real templates have fewer than 15 levels.
pub const NESTING_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intrinsic<'a> {
    Reference(&'a str),
    Attribute { logical_id: &'a str, attribute: &'a str },
    Join { separator: &'a str, parts: &'a [Value] },
    Substitution { text: &'a str, variables: Option<&'a Map<String, Value>> },
}

/// The reason why an intrinsic function could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IntrinsicError {
    /// Cellar does not use this function.
    #[error("`{name}` is not supported: use one of {}", intrinsic::ALL.join(", "))]
    Unsupported { name: String },
    #[error("`{name}` expects {expected}")]
    Malformed {
        name: &'static str,
        /// Description of the expected arguments.
        expected: &'static str,
    },
}

/// Parses an intrinsic function. Returns `None` if `value` is not an intrinsic function.
///
/// # Errors
/// Returns an [`IntrinsicError`] if the function is not supported or its arguments are malformed.
pub(crate) fn parse_intrinsic(value: &Value) -> Result<Option<Intrinsic<'_>>, IntrinsicError> {
    let Some((function_name, argument)) = single_entry(value) else { return Ok(None) };
    match function_name {
        intrinsic::REF => parse_reference(argument).map(Some),
        intrinsic::GET_ATT => parse_attribute(argument).map(Some),
        intrinsic::JOIN => parse_join(argument).map(Some),
        intrinsic::SUB => parse_sub(argument).map(Some),
        _ if function_name.starts_with("Fn::") => {
            Err(IntrinsicError::Unsupported { name: function_name.to_owned() })
        }
        _ => Ok(None),
    }
}

fn single_entry(value: &Value) -> Option<(&str, &Value)> {
    let map = value.as_object()?;
    if map.len() != 1 {
        return None;
    }
    let (key, entry_value) = map.iter().next()?;
    Some((key, entry_value))
}

fn parse_reference(argument: &Value) -> Result<Intrinsic<'_>, IntrinsicError> {
    let logical_id = argument.as_str().ok_or(IntrinsicError::Malformed {
        name: intrinsic::REF,
        expected: "the name of a resource or parameter",
    })?;
    Ok(Intrinsic::Reference(logical_id))
}

fn parse_attribute(argument: &Value) -> Result<Intrinsic<'_>, IntrinsicError> {
    match argument.as_array().map(Vec::as_slice) {
        Some([Value::String(logical_id), Value::String(attribute)]) => {
            Ok(Intrinsic::Attribute { logical_id, attribute })
        }
        _ => Err(IntrinsicError::Malformed {
            name: intrinsic::GET_ATT,
            expected: "a list of a logical id and an attribute",
        }),
    }
}

fn parse_join(argument: &Value) -> Result<Intrinsic<'_>, IntrinsicError> {
    match argument.as_array().map(Vec::as_slice) {
        Some([Value::String(separator), Value::Array(parts)]) => {
            Ok(Intrinsic::Join { separator, parts })
        }
        _ => Err(IntrinsicError::Malformed {
            name: intrinsic::JOIN,
            expected: "a list of a separator and a list of values",
        }),
    }
}

fn parse_sub(argument: &Value) -> Result<Intrinsic<'_>, IntrinsicError> {
    if let Some(text) = argument.as_str() {
        return Ok(Intrinsic::Substitution { text, variables: None });
    }
    match argument.as_array().map(Vec::as_slice) {
        Some([Value::String(text), Value::Object(variables)]) => {
            Ok(Intrinsic::Substitution { text, variables: Some(variables) })
        }
        _ => Err(IntrinsicError::Malformed {
            name: intrinsic::SUB,
            expected: "a string, or a list of a string and a map of variables",
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_values_are_not_intrinsic_functions() {
        for value in [json!("Ref"), json!({}), json!({"Ref": "a", "b": 1}), json!({"Bool": 1})] {
            assert_eq!(parse_intrinsic(&value), Ok(None), "{value}");
        }
    }

    #[test]
    fn wrong_arguments_are_rejected() {
        for (value, name) in [
            (json!({"Ref": 1}), "Ref"),
            (json!({"Fn::GetAtt": "A.B"}), "Fn::GetAtt"),
            (json!({"Fn::GetAtt": ["A"]}), "Fn::GetAtt"),
            (json!({"Fn::Join": ["", "a"]}), "Fn::Join"),
            (json!({"Fn::Sub": ["a", {}, 1]}), "Fn::Sub"),
        ] {
            let error = parse_intrinsic(&value).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{name}` expects ")), "{error}");
        }
    }

    #[test]
    fn unsupported_functions_are_rejected() {
        let error = parse_intrinsic(&json!({"Fn::ImportValue": "x"})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`Fn::ImportValue` is not supported: use one of Ref, Fn::GetAtt, Fn::Join, Fn::Sub"
        );
    }
}
