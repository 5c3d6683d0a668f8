//! Builds stacks. A [`Stack`] collects constructs by logical id, returns typed references to them,
//! and validates all of them.

mod check;
mod error;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::constructs::{Construct, Handle, ResourceType, Rule, Suppression, write_suppressions};
use crate::expression::Expression;
use crate::template::limits::LOGICAL_ID_CHARS_MAX;
use crate::template::{Output, PARAMETER_KIND, Parameter, Resource, SourceLine, Template};

pub use error::{SynthesisError, SynthesisErrors, TemplatePart};

/// A CloudFormation stack under construction.
///
/// ```
/// use cellar_stacks::constructs::{AttributeType, Table};
/// use cellar_stacks::stack::Stack;
/// use cellar_stacks::template::Output;
///
/// let mut stack = Stack::new("An example");
/// let table = Table::new("id").attribute("id", AttributeType::String);
/// let table = stack.add("OrderTable", table)?;
/// stack.add_output("OrderTableName", Output::new("Name of the table.", table.name()))?;
/// let template = stack.synthesize()?;
/// assert_eq!(template.resources().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stack {
    template: Template,
    suppressions: BTreeMap<String, Vec<Suppression>>,
    tags: BTreeMap<String, String>,
}

impl Stack {
    pub fn new(description: &str) -> Self {
        Self {
            template: Template::empty(description),
            suppressions: BTreeMap::new(),
            tags: BTreeMap::new(),
        }
    }

    /// Adds a construct with a logical id.
    ///
    /// The template records the source line of the caller. A helper function that calls this method
    /// must be `#[track_caller]`. Otherwise, the template records a line of the helper function.
    ///
    /// # Errors
    /// Returns [`SynthesisError::InvalidLogicalId`] or [`SynthesisError::DuplicateLogicalId`].
    #[track_caller]
    pub fn add<C: Construct>(
        &mut self,
        logical_id: &str,
        construct: C,
    ) -> Result<Handle<C>, SynthesisError> {
        self.add_from_source_line(SourceLine::caller(), logical_id, construct)
    }

    /// Adds a construct with a logical id and records `source_line` instead of the source line of
    /// the caller. This is for constructs that are defined in a list.
    pub(crate) fn add_from_source_line<C: Construct>(
        &mut self,
        source_line: SourceLine,
        logical_id: &str,
        construct: C,
    ) -> Result<Handle<C>, SynthesisError> {
        self.check_available(logical_id, C::TYPE.name())?;
        let removal_policy = construct.removal_policy();
        let wildcard_reasons: Map<String, Value> = construct
            .wildcard_reasons()
            .into_iter()
            .map(|(statement_id, reason)| (statement_id, reason.into()))
            .collect();
        let mut resource = Resource::new(C::TYPE.name(), construct.properties());
        resource.source_line = Some(source_line);
        if let Some(removal_policy) = removal_policy {
            resource.set_removal_policy(removal_policy);
        }
        if !wildcard_reasons.is_empty() {
            resource.metadata.insert(WILDCARD_REASONS.to_owned(), wildcard_reasons.into());
        }
        self.template.resources.insert(logical_id.to_owned(), resource);
        Ok(Handle::new(logical_id))
    }

    /// Adds a parameter and returns a reference to it. The value of the parameter is supplied when
    /// the stack is deployed.
    ///
    /// # Errors
    /// Returns [`SynthesisError::InvalidLogicalId`] or [`SynthesisError::DuplicateLogicalId`].
    pub fn add_parameter(
        &mut self,
        logical_id: &str,
        parameter: Parameter,
    ) -> Result<Expression, SynthesisError> {
        self.check_available(logical_id, PARAMETER_KIND)?;
        self.template.parameters.insert(logical_id.to_owned(), parameter);
        Ok(Expression::reference(logical_id))
    }

    /// Adds an output, whose value can be read from the deployed stack. An output may have the same
    /// name as a resource.
    ///
    /// # Errors
    /// Returns [`SynthesisError::InvalidLogicalId`] or [`SynthesisError::DuplicateLogicalId`].
    pub fn add_output(&mut self, name: &str, output: Output) -> Result<(), SynthesisError> {
        let template_part = TemplatePart::output(name);
        check_logical_id(&template_part)?;
        if self.template.outputs.contains_key(name) {
            let taken_by = template_part.kind.clone();
            return Err(SynthesisError::DuplicateLogicalId { template_part, taken_by });
        }
        self.template.outputs.insert(name.to_owned(), output);
        Ok(())
    }

    /// Suppresses a linter rule that does not apply to a resource. The template contains `reason`.
    pub fn suppress<C: Construct>(&mut self, handle: &Handle<C>, rule: Rule, reason: &str) {
        let suppression = Suppression { rule, reason: reason.to_owned() };
        self.suppressions.entry(handle.logical_id().to_owned()).or_default().push(suppression);
    }

    /// Makes CloudFormation create `earlier` before `later`, even if `later` does not reference
    /// `earlier`.
    pub fn depends_on<C: Construct, D: Construct>(
        &mut self,
        later: &Handle<C>,
        earlier: &Handle<D>,
    ) {
        if let Some(resource) = self.template.resources.get_mut(later.logical_id()) {
            resource.depends_on.push(earlier.logical_id().to_owned());
        }
    }

    /// Sets the tags of all taggable resources, including resources that are added later.
    pub fn add_tags(&mut self, tags: &BTreeMap<String, String>) {
        self.tags.extend(tags.iter().map(|(key, value)| (key.clone(), value.clone())));
    }

    fn write_tags(&mut self) {
        if self.tags.is_empty() {
            return;
        }
        let tag_list: Vec<Value> =
            self.tags.iter().map(|(key, value)| json!({ "Key": key, "Value": value })).collect();
        for resource in self.template.resources.values_mut() {
            let resource_type = ResourceType::from_name(&resource.resource_type);
            if resource_type.is_some_and(ResourceType::is_taggable) {
                resource.properties.insert("Tags".to_owned(), tag_list.clone().into());
            }
        }
    }

    /// Validates the stack and returns its template.
    ///
    /// # Errors
    /// Returns all faults of the stack, such as unknown references and attributes, table keys
    /// without a definition, wildcard permissions, dependency cycles, and exceeded limits of
    /// CloudFormation.
    pub fn synthesize(mut self) -> Result<Template, SynthesisErrors> {
        self.write_tags();
        for (logical_id, suppressions) in &self.suppressions {
            if let Some(resource) = self.template.resources.get_mut(logical_id) {
                write_suppressions(suppressions, &mut resource.metadata);
            }
        }
        let faults = check::find_faults(&self.template);
        if faults.is_empty() { Ok(self.template) } else { Err(SynthesisErrors(faults)) }
    }

    fn check_available(&self, logical_id: &str, kind: &str) -> Result<(), SynthesisError> {
        let template_part = TemplatePart::new(logical_id, kind);
        check_logical_id(&template_part)?;
        if let Some(existing_kind) = self.template.kind_of_logical_id(logical_id) {
            let taken_by = existing_kind.to_owned();
            return Err(SynthesisError::DuplicateLogicalId { template_part, taken_by });
        }
        Ok(())
    }
}

pub(crate) const WILDCARD_REASONS: &str = "Reasons";

fn check_logical_id(template_part: &TemplatePart) -> Result<(), SynthesisError> {
    let logical_id = &template_part.logical_id;
    let has_valid_length = (1..=LOGICAL_ID_CHARS_MAX).contains(&logical_id.len());
    let has_valid_characters = logical_id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if has_valid_length && has_valid_characters {
        Ok(())
    } else {
        Err(SynthesisError::InvalidLogicalId { template_part: template_part.clone() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::constructs::LogGroup;

    #[test]
    fn logical_ids_are_bounded_letters_and_digits() {
        let mut stack = Stack::new("test");
        assert!(stack.add(&"a".repeat(255), LogGroup::new(1)).is_ok());
        for id in ["", "a-b", "a b", "é", &"a".repeat(256)] {
            let error = stack.add(id, LogGroup::new(1)).unwrap_err();
            let template_part = TemplatePart::new(id, "AWS::Logs::LogGroup");
            assert_eq!(
                error,
                SynthesisError::InvalidLogicalId { template_part: template_part.clone() }
            );
            let error = stack.add_parameter(id, Parameter::text("x")).unwrap_err();
            assert!(matches!(error, SynthesisError::InvalidLogicalId { .. }));
            let error = stack.add_output(id, Output::new("x", "y")).unwrap_err();
            assert!(matches!(error, SynthesisError::InvalidLogicalId { .. }));
        }
    }

    #[test]
    fn resources_and_parameters_share_a_namespace() {
        let mut stack = Stack::new("test");
        stack.add("Logs", LogGroup::new(1)).unwrap();
        assert_eq!(
            stack.add_parameter("Logs", Parameter::text("x")).unwrap_err().to_string(),
            "`Logs` (parameter): the logical id is already used by a part of type \
             AWS::Logs::LogGroup; use another one"
        );
        assert!(stack.add("Logs", LogGroup::new(1)).is_err());
        stack.add_output("Logs", Output::new("may share it", "x")).unwrap();
        assert!(stack.add_output("Logs", Output::new("twice", "x")).is_err());
    }

    #[test]
    fn suppressions_and_dependencies_reach_the_template() {
        let mut stack = Stack::new("test");
        let first = stack.add("First", LogGroup::new(1)).unwrap();
        let second = stack.add("Second", LogGroup::new(1)).unwrap();
        stack.depends_on(&second, &first);
        stack.suppress(&first, Rule::checkov("CKV_AWS_158"), "because");
        let template = stack.synthesize().unwrap();
        assert_eq!(template.resource("Second").unwrap().depends_on, ["First"]);
        assert_eq!(
            Value::Object(template.resource("First").unwrap().metadata.clone()),
            json!({"checkov": {"skip": [{"id": "CKV_AWS_158", "comment": "because"}]}})
        );
    }
}
