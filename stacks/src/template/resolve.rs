//! Replaces intrinsic functions by the values that a deployment gave them.

use serde_json::{Map, Value};
use thiserror::Error;

use super::Template;
use crate::expression::{
    Intrinsic, IntrinsicError, NESTING_MAX, SubstitutionError, SubstitutionPart, intrinsic_in,
    parse_substitution,
};

/// What a deployment knows: names and attributes of its resources, parameters, and pseudo
/// parameters such as `AWS::Region`.
pub trait Lookup {
    /// The value of `Ref`.
    fn reference(&self, logical_id: &str) -> Option<String>;

    /// The value of `Fn::GetAtt`.
    fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String>;
}

/// Why a value could not be resolved, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {fault}")]
pub struct ResolveError {
    /// Where in the value, as `Environment.Variables.NAME`.
    pub path: String,
    /// What is wrong there.
    pub fault: ResolveFault,
}

/// What stands in the way of a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResolveFault {
    /// `Ref` to something without a value.
    #[error("`{logical_id}` has no value here; deploy it, or pass it as a parameter")]
    UnknownReference {
        /// The name.
        logical_id: String,
    },
    /// `Fn::GetAtt` of something without a value.
    #[error("`{logical_id}` has no attribute `{attribute}` here")]
    UnknownAttribute {
        /// The resource.
        logical_id: String,
        /// The attribute.
        attribute: String,
    },
    /// An intrinsic function of the wrong form, or one that is not supported.
    #[error(transparent)]
    Intrinsic(#[from] IntrinsicError),
    /// A text of `Fn::Sub` that cannot be read.
    #[error(transparent)]
    Substitution(#[from] SubstitutionError),
    /// A part of `Fn::Join` or a variable of `Fn::Sub` that is a map, a list or null.
    #[error("only text, numbers and booleans can be put into a text")]
    NoText,
    /// Deeper than [`NESTING_MAX`].
    #[error("values may be nested {NESTING_MAX} levels deep")]
    TooDeep,
}

impl Template {
    /// A copy of `value` without intrinsic functions.
    ///
    /// A parameter that the lookup does not know has its default, if there is one.
    ///
    /// # Errors
    /// [`ResolveError`] with the path inside `value`.
    pub fn resolve(&self, value: &Value, lookup: &dyn Lookup) -> Result<Value, ResolveError> {
        Resolution { template: self, lookup }.value("", value, 0)
    }

    /// The properties of a resource without intrinsic functions; none if there is no such
    /// resource.
    ///
    /// # Errors
    /// [`ResolveError`] with the path inside the properties.
    pub fn resolved_properties(
        &self,
        logical_id: &str,
        lookup: &dyn Lookup,
    ) -> Result<Option<Map<String, Value>>, ResolveError> {
        let resolution = Resolution { template: self, lookup };
        let resource = self.resource(logical_id);
        resource.map(|resource| resolution.entries("", &resource.properties, 0)).transpose()
    }
}

struct Resolution<'a> {
    template: &'a Template,
    lookup: &'a dyn Lookup,
}

impl Resolution<'_> {
    fn value(&self, path: &str, value: &Value, depth: usize) -> Result<Value, ResolveError> {
        if depth > NESTING_MAX {
            return Err(fault(path, ResolveFault::TooDeep));
        }
        match intrinsic_in(value).map_err(|error| fault(path, error))? {
            Some(intrinsic) => self.intrinsic(path, &intrinsic, depth).map(Value::String),
            None => match value {
                Value::Array(items) => {
                    let items = items.iter().enumerate().map(|(index, inner)| {
                        self.value(&format!("{path}[{index}]"), inner, depth + 1)
                    });
                    items.collect::<Result<_, _>>().map(Value::Array)
                }
                Value::Object(entries) => self.entries(path, entries, depth).map(Value::Object),
                plain => Ok(plain.clone()),
            },
        }
    }

    fn entries(
        &self,
        path: &str,
        entries: &Map<String, Value>,
        depth: usize,
    ) -> Result<Map<String, Value>, ResolveError> {
        let resolved = entries.iter().map(|(name, inner)| {
            let inner = self.value(&below(path, name), inner, depth + 1)?;
            Ok((name.clone(), inner))
        });
        resolved.collect()
    }

    fn intrinsic(
        &self,
        path: &str,
        intrinsic: &Intrinsic<'_>,
        depth: usize,
    ) -> Result<String, ResolveError> {
        match *intrinsic {
            Intrinsic::Reference(name) => self.reference(path, name),
            Intrinsic::Attribute { logical_id, attribute } => {
                self.attribute(path, logical_id, attribute)
            }
            Intrinsic::Join { separator, parts } => {
                let parts = parts
                    .iter()
                    .enumerate()
                    .map(|(index, part)| self.text(&format!("{path}[{index}]"), part, depth + 1));
                Ok(parts.collect::<Result<Vec<_>, _>>()?.join(separator))
            }
            Intrinsic::Substitution { text, variables } => {
                let parts = parse_substitution(text).map_err(|error| fault(path, error))?;
                let parts = parts.into_iter().map(|part| match part {
                    SubstitutionPart::Text(text) => Ok(text),
                    SubstitutionPart::Name(name) => {
                        match variables.and_then(|variables| variables.get(&name)) {
                            Some(value) => self.text(&below(path, &name), value, depth + 1),
                            None => self.reference(path, &name),
                        }
                    }
                    SubstitutionPart::Attribute { logical_id, attribute } => {
                        self.attribute(path, &logical_id, &attribute)
                    }
                });
                parts.collect()
            }
        }
    }

    fn text(&self, path: &str, value: &Value, depth: usize) -> Result<String, ResolveError> {
        match self.value(path, value, depth)? {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(truth) => Ok(truth.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err(fault(path, ResolveFault::NoText))
            }
        }
    }

    fn reference(&self, path: &str, name: &str) -> Result<String, ResolveError> {
        let default = || self.template.parameters.get(name)?.default.clone();
        self.lookup.reference(name).or_else(default).ok_or_else(|| {
            fault(path, ResolveFault::UnknownReference { logical_id: name.to_owned() })
        })
    }

    fn attribute(
        &self,
        path: &str,
        logical_id: &str,
        attribute: &str,
    ) -> Result<String, ResolveError> {
        self.lookup.attribute(logical_id, attribute).ok_or_else(|| {
            let (logical_id, attribute) = (logical_id.to_owned(), attribute.to_owned());
            fault(path, ResolveFault::UnknownAttribute { logical_id, attribute })
        })
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn fault(path: &str, fault: impl Into<ResolveFault>) -> ResolveError {
    let path = if path.is_empty() { "value" } else { path };
    ResolveError { path: path.to_owned(), fault: fault.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stack::Parameter;

    struct Deployment;

    impl Lookup for Deployment {
        fn reference(&self, logical_id: &str) -> Option<String> {
            match logical_id {
                "Table" => Some("table-1".to_owned()),
                "AWS::Region" => Some("eu-central-1".to_owned()),
                _ => None,
            }
        }

        fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String> {
            (logical_id == "Table").then(|| format!("arn/{attribute}"))
        }
    }

    fn resolved(value: &Value) -> Result<Value, ResolveError> {
        let mut template = Template::empty("test");
        let default = Some("usual".to_owned());
        let parameter = Parameter { default, ..Parameter::text("x") };
        template.parameters.insert("Size".to_owned(), parameter);
        template.resolve(value, &Deployment)
    }

    fn refused(value: &Value) -> String {
        resolved(value).unwrap_err().to_string()
    }

    #[test]
    fn each_function_gives_its_value() {
        for (value, wanted) in [
            (json!("plain"), json!("plain")),
            (json!({"Ref": "Table"}), json!("table-1")),
            (json!({"Ref": "Size"}), json!("usual")),
            (json!({"Fn::GetAtt": ["Table", "Arn"]}), json!("arn/Arn")),
            (
                json!({"Fn::Join": ["-", ["a", {"Ref": "AWS::Region"}, 1]]}),
                json!("a-eu-central-1-1"),
            ),
            (json!({"Fn::Sub": "${Table}/${Table.Arn}/${!x}"}), json!("table-1/arn/Arn/${x}")),
            (json!({"Fn::Sub": ["${x}-${Table}", {"x": {"Ref": "Size"}}]}), json!("usual-table-1")),
            (
                json!([1, true, null, {"a": {"Ref": "Table"}}]),
                json!([1, true, null, {"a": "table-1"}]),
            ),
        ] {
            assert_eq!(resolved(&value).unwrap(), wanted, "{value}");
        }
    }

    #[test]
    fn faults_are_told_with_their_path() {
        assert_eq!(
            refused(&json!({"a": [{"b": {"Ref": "Nowhere"}}]})),
            "a[0].b: `Nowhere` has no value here; deploy it, or pass it as a parameter"
        );
        assert_eq!(
            refused(&json!({"Fn::GetAtt": ["Nowhere", "Arn"]})),
            "value: `Nowhere` has no attribute `Arn` here"
        );
        assert_eq!(
            refused(&json!({"a": {"Fn::If": ["c", 1, 2]}})),
            "a: `Fn::If` is not supported: use one of Ref, Fn::GetAtt, Fn::Join, Fn::Sub"
        );
        assert_eq!(
            refused(&json!({"a": {"Fn::Join": ["", ["x", {"y": "z"}]]}})),
            "a[1]: only text, numbers and booleans can be put into a text"
        );
        assert!(refused(&json!({"a": {"Ref": 1}})).starts_with("a: `Ref` expects"));
        assert!(refused(&json!({"a": {"Fn::Sub": "${"}})).starts_with("a: `${` has no closing"));
    }

    #[test]
    fn what_was_resolved_is_not_resolved_again() {
        struct Tricky;
        impl Lookup for Tricky {
            fn reference(&self, _: &str) -> Option<String> {
                Some("${AWS::Region}".to_owned())
            }
            fn attribute(&self, _: &str, _: &str) -> Option<String> {
                None
            }
        }
        let value = json!({"Fn::Sub": "${Table}"});
        let resolved = Template::empty("test").resolve(&value, &Tricky).unwrap();
        assert_eq!(resolved, "${AWS::Region}");
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(resolved(&nested(NESTING_MAX)).unwrap(), nested(NESTING_MAX));
        assert_eq!(resolved(&nested(NESTING_MAX + 1)).unwrap_err().fault, ResolveFault::TooDeep);
    }
}
