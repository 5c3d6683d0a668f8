//! Replaces intrinsic functions by the values that they have in a deployment.

use serde_json::{Map, Value};
use thiserror::Error;

use super::Template;
use crate::expression::{
    Intrinsic, IntrinsicError, NESTING_MAX, SubstitutionError, SubstitutionPart, parse_intrinsic,
    parse_substitution,
};

/// The values of a deployment: the names and attributes of its resources, its parameters, and
/// pseudo parameters such as `AWS::Region`.
pub trait DeployedValues {
    /// Returns the value of a `Ref`, or `None` if the value is unknown.
    fn reference(&self, logical_id: &str) -> Option<String>;

    /// Returns the value of an `Fn::GetAtt`, or `None` if the value is unknown.
    fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String>;
}

/// Error about a template value that could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {fault}")]
pub struct ResolveError {
    /// The path of the value, such as `Environment.Variables.NAME`.
    pub path: String,
    pub fault: ResolveFault,
}

/// The reason why a template value could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResolveFault {
    #[error("`{logical_id}` has no value in this deployment; deploy it, or pass it as a parameter")]
    UnknownReference { logical_id: String },
    #[error("`{logical_id}` has no attribute `{attribute}` in this deployment")]
    UnknownAttribute { logical_id: String, attribute: String },
    #[error(transparent)]
    Intrinsic(#[from] IntrinsicError),
    #[error(transparent)]
    Substitution(#[from] SubstitutionError),
    /// A part of an `Fn::Join` or a variable of an `Fn::Sub` is a map, a list or null.
    #[error("only strings, numbers and booleans can be inserted into text")]
    NotAScalar,
    #[error("values are nested more than {NESTING_MAX} levels deep")]
    TooDeep,
}

impl Template {
    /// Returns a copy of `value` in which every intrinsic function is replaced by its value in a
    /// deployment.
    ///
    /// If `deployed_values` does not contain a parameter, the default of the parameter is used.
    ///
    /// # Errors
    /// Returns a [`ResolveError`] with the path of a value that could not be resolved. The path is
    /// relative to `value`.
    pub fn resolve(
        &self,
        value: &Value,
        deployed_values: &dyn DeployedValues,
    ) -> Result<Value, ResolveError> {
        Resolver { template: self, deployed_values }.resolve_value("", value, 0)
    }

    /// Returns the resolved properties of a resource, or `None` if the resource does not exist.
    ///
    /// # Errors
    /// Returns a [`ResolveError`] with the path of a value that could not be resolved. The path is
    /// relative to the properties.
    pub fn resolved_properties(
        &self,
        logical_id: &str,
        deployed_values: &dyn DeployedValues,
    ) -> Result<Option<Map<String, Value>>, ResolveError> {
        let Some(resource) = self.resource(logical_id) else { return Ok(None) };
        let resolver = Resolver { template: self, deployed_values };
        resolver.resolve_entries("", &resource.properties, 0).map(Some)
    }
}

struct Resolver<'a> {
    template: &'a Template,
    deployed_values: &'a dyn DeployedValues,
}

impl Resolver<'_> {
    fn resolve_value(
        &self,
        path: &str,
        value: &Value,
        depth: usize,
    ) -> Result<Value, ResolveError> {
        if depth > NESTING_MAX {
            return Err(resolve_error_at(path, ResolveFault::TooDeep));
        }
        if let Some(intrinsic) =
            parse_intrinsic(value).map_err(|error| resolve_error_at(path, error))?
        {
            return self.resolve_intrinsic(path, &intrinsic, depth).map(Value::String);
        }
        match value {
            Value::Array(items) => self.resolve_items(path, items, depth).map(Value::Array),
            Value::Object(entries) => self.resolve_entries(path, entries, depth).map(Value::Object),
            scalar => Ok(scalar.clone()),
        }
    }

    fn resolve_items(
        &self,
        path: &str,
        items: &[Value],
        depth: usize,
    ) -> Result<Vec<Value>, ResolveError> {
        let mut resolved_items = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let item_path = format!("{path}[{index}]");
            resolved_items.push(self.resolve_value(&item_path, item, depth + 1)?);
        }
        Ok(resolved_items)
    }

    fn resolve_entries(
        &self,
        path: &str,
        entries: &Map<String, Value>,
        depth: usize,
    ) -> Result<Map<String, Value>, ResolveError> {
        let mut resolved_entries = Map::new();
        for (name, value) in entries {
            let resolved_value =
                self.resolve_value(&path_of_entry(path, name), value, depth + 1)?;
            resolved_entries.insert(name.clone(), resolved_value);
        }
        Ok(resolved_entries)
    }

    fn resolve_intrinsic(
        &self,
        path: &str,
        intrinsic: &Intrinsic<'_>,
        depth: usize,
    ) -> Result<String, ResolveError> {
        match *intrinsic {
            Intrinsic::Reference(name) => self.resolve_reference(path, name),
            Intrinsic::Attribute { logical_id, attribute } => {
                self.resolve_attribute(path, logical_id, attribute)
            }
            Intrinsic::Join { separator, parts } => {
                self.resolve_join(path, separator, parts, depth)
            }
            Intrinsic::Substitution { text, variables } => {
                self.resolve_substitution(path, text, variables, depth)
            }
        }
    }

    fn resolve_join(
        &self,
        path: &str,
        separator: &str,
        parts: &[Value],
        depth: usize,
    ) -> Result<String, ResolveError> {
        let mut part_texts = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            part_texts.push(self.resolve_to_text(&format!("{path}[{index}]"), part, depth + 1)?);
        }
        Ok(part_texts.join(separator))
    }

    fn resolve_substitution(
        &self,
        path: &str,
        text: &str,
        variables: Option<&Map<String, Value>>,
        depth: usize,
    ) -> Result<String, ResolveError> {
        let mut resolved_text = String::new();
        for part in parse_substitution(text).map_err(|error| resolve_error_at(path, error))? {
            let part_text = match part {
                SubstitutionPart::Text(literal) => literal,
                SubstitutionPart::Name(name) => {
                    match variables.and_then(|variables| variables.get(&name)) {
                        Some(variable) => {
                            let variable_path = path_of_entry(path, &name);
                            self.resolve_to_text(&variable_path, variable, depth + 1)?
                        }
                        None => self.resolve_reference(path, &name)?,
                    }
                }
                SubstitutionPart::Attribute { logical_id, attribute } => {
                    self.resolve_attribute(path, &logical_id, &attribute)?
                }
            };
            resolved_text.push_str(&part_text);
        }
        Ok(resolved_text)
    }

    /// Resolves a value and converts it to text, so that it can be inserted into other text.
    fn resolve_to_text(
        &self,
        path: &str,
        value: &Value,
        depth: usize,
    ) -> Result<String, ResolveError> {
        match self.resolve_value(path, value, depth)? {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(boolean) => Ok(boolean.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err(resolve_error_at(path, ResolveFault::NotAScalar))
            }
        }
    }

    fn resolve_reference(&self, path: &str, name: &str) -> Result<String, ResolveError> {
        let parameter_default = || self.template.parameters.get(name)?.default.clone();
        self.deployed_values.reference(name).or_else(parameter_default).ok_or_else(|| {
            resolve_error_at(path, ResolveFault::UnknownReference { logical_id: name.to_owned() })
        })
    }

    fn resolve_attribute(
        &self,
        path: &str,
        logical_id: &str,
        attribute: &str,
    ) -> Result<String, ResolveError> {
        self.deployed_values.attribute(logical_id, attribute).ok_or_else(|| {
            let (logical_id, attribute) = (logical_id.to_owned(), attribute.to_owned());
            resolve_error_at(path, ResolveFault::UnknownAttribute { logical_id, attribute })
        })
    }
}

fn path_of_entry(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn resolve_error_at(path: &str, fault: impl Into<ResolveFault>) -> ResolveError {
    let error_path = if path.is_empty() { "value" } else { path };
    ResolveError { path: error_path.to_owned(), fault: fault.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::template::Parameter;

    struct Deployment;

    impl DeployedValues for Deployment {
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

    fn resolve_error(value: &Value) -> String {
        resolved(value).unwrap_err().to_string()
    }

    #[test]
    fn resolves_each_intrinsic_function() {
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
    fn errors_contain_the_path() {
        assert_eq!(
            resolve_error(&json!({"a": [{"b": {"Ref": "Nowhere"}}]})),
            "a[0].b: `Nowhere` has no value in this deployment; deploy it, or pass it as a \
             parameter"
        );
        assert_eq!(
            resolve_error(&json!({"Fn::GetAtt": ["Nowhere", "Arn"]})),
            "value: `Nowhere` has no attribute `Arn` in this deployment"
        );
        assert_eq!(
            resolve_error(&json!({"a": {"Fn::If": ["c", 1, 2]}})),
            "a: `Fn::If` is not supported: use one of Ref, Fn::GetAtt, Fn::Join, Fn::Sub"
        );
        assert_eq!(
            resolve_error(&json!({"a": {"Fn::Join": ["", ["x", {"y": "z"}]]}})),
            "a[1]: only strings, numbers and booleans can be inserted into text"
        );
        assert!(resolve_error(&json!({"a": {"Ref": 1}})).starts_with("a: `Ref` expects"));
        assert!(
            resolve_error(&json!({"a": {"Fn::Sub": "${"}})).starts_with("a: `${` has no closing")
        );
    }

    #[test]
    fn resolved_values_are_not_resolved_again() {
        struct Tricky;
        impl DeployedValues for Tricky {
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
