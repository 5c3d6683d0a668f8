//! Checks that the target of every reference exists.

use serde_json::{Map, Value};

use crate::constructs::ResourceType;
use crate::expression::{
    Intrinsic, NESTING_MAX, PSEUDO_PARAMETERS, SubstitutionPart, parse_intrinsic,
    parse_substitution,
};
use crate::stack::error::{SynthesisError, TemplatePart};
use crate::suggest;
use crate::template::Template;

pub(super) fn find_reference_faults(template: &Template) -> Vec<SynthesisError> {
    let mut faults = Vec::new();
    for (logical_id, resource) in &template.resources {
        let template_part = TemplatePart::new(logical_id, &resource.resource_type);
        let mut checker =
            ReferenceChecker { template, template_part: &template_part, faults: &mut faults };
        for (name, value) in &resource.properties {
            checker.check_value(name, value, 0);
        }
        for dependency in &resource.depends_on {
            checker.check_resource("DependsOn", dependency);
        }
    }
    for (name, output) in &template.outputs {
        let template_part = TemplatePart::output(name);
        let mut checker =
            ReferenceChecker { template, template_part: &template_part, faults: &mut faults };
        checker.check_value("Value", &output.value, 0);
    }
    faults
}

struct ReferenceChecker<'a> {
    template: &'a Template,
    template_part: &'a TemplatePart,
    faults: &'a mut Vec<SynthesisError>,
}

impl ReferenceChecker<'_> {
    fn check_value(&mut self, path: &str, value: &Value, depth: usize) {
        if depth > NESTING_MAX {
            let template_part = self.template_part.clone();
            self.faults.push(SynthesisError::TooDeep { template_part, path: path.to_owned() });
            return;
        }
        match parse_intrinsic(value) {
            Ok(None) => self.check_inner_values(path, value, depth),
            Ok(Some(intrinsic)) => self.check_intrinsic(path, &intrinsic, depth),
            Err(fault) => self.faults.push(SynthesisError::Intrinsic {
                template_part: self.template_part.clone(),
                path: path.to_owned(),
                fault,
            }),
        }
    }

    fn check_inner_values(&mut self, path: &str, value: &Value, depth: usize) {
        match value {
            Value::Array(items) => self.check_items(path, items, depth),
            Value::Object(entries) => self.check_entries(path, entries, depth),
            _ => {}
        }
    }

    fn check_entries(&mut self, path: &str, entries: &Map<String, Value>, depth: usize) {
        for (name, value) in entries {
            self.check_value(&format!("{path}.{name}"), value, depth + 1);
        }
    }

    fn check_items(&mut self, path: &str, items: &[Value], depth: usize) {
        for (index, item) in items.iter().enumerate() {
            self.check_value(&format!("{path}[{index}]"), item, depth + 1);
        }
    }

    fn check_intrinsic(&mut self, path: &str, intrinsic: &Intrinsic<'_>, depth: usize) {
        match *intrinsic {
            Intrinsic::Reference(name) => self.check_name(path, name),
            Intrinsic::Attribute { logical_id, attribute } => {
                self.check_attribute(path, logical_id, attribute);
            }
            Intrinsic::Join { parts, .. } => self.check_items(path, parts, depth),
            Intrinsic::Substitution { text, variables } => {
                if let Some(variables) = variables {
                    self.check_entries(path, variables, depth);
                }
                self.check_substitution(path, text, variables);
            }
        }
    }

    fn check_substitution(
        &mut self,
        path: &str,
        text: &str,
        variables: Option<&Map<String, Value>>,
    ) {
        let parts = match parse_substitution(text) {
            Ok(parts) => parts,
            Err(fault) => {
                self.faults.push(SynthesisError::Substitution {
                    template_part: self.template_part.clone(),
                    path: path.to_owned(),
                    fault,
                });
                return;
            }
        };
        for part in parts {
            match part {
                SubstitutionPart::Text(_) => {}
                SubstitutionPart::Name(name) => {
                    let is_variable =
                        variables.is_some_and(|variables| variables.contains_key(&name));
                    if !is_variable {
                        self.check_name(path, &name);
                    }
                }
                SubstitutionPart::Attribute { logical_id, attribute } => {
                    self.check_attribute(path, &logical_id, &attribute);
                }
            }
        }
    }

    fn check_name(&mut self, path: &str, name: &str) {
        let template = self.template;
        if template.kind_of_logical_id(name).is_some() || PSEUDO_PARAMETERS.contains(&name) {
            return;
        }
        let defined_names = template.resources.keys().chain(template.parameters.keys());
        let known_names = defined_names.map(String::as_str).chain(PSEUDO_PARAMETERS);
        self.report_unknown_reference(path, name, suggest::closest_candidate(name, known_names));
    }

    fn check_resource(&mut self, path: &str, logical_id: &str) {
        let resources = &self.template.resources;
        if resources.contains_key(logical_id) {
            return;
        }
        let known_ids = resources.keys().map(String::as_str);
        self.report_unknown_reference(
            path,
            logical_id,
            suggest::closest_candidate(logical_id, known_ids),
        );
    }

    fn report_unknown_reference(&mut self, path: &str, target: &str, suggestion: Option<&str>) {
        self.faults.push(SynthesisError::UnknownReference {
            template_part: self.template_part.clone(),
            path: path.to_owned(),
            target: target.to_owned(),
            suggestion: suggestion.map(str::to_owned),
        });
    }

    fn check_attribute(&mut self, path: &str, logical_id: &str, attribute: &str) {
        let Some(resource) = self.template.resources.get(logical_id) else {
            return self.check_resource(path, logical_id);
        };
        // Stacks contain only resource types that have a construct. The valid attributes of any
        // other type would be unknown, so they are not checked.
        let Some(resource_type) = ResourceType::from_name(&resource.resource_type) else { return };
        let template_part = self.template_part.clone();
        let path = path.to_owned();
        let target = Box::new(TemplatePart::new(logical_id, resource_type.name()));
        let available = resource_type.attributes();
        if !available.contains(&attribute) {
            let attribute = attribute.to_owned();
            self.faults.push(SynthesisError::UnknownAttribute {
                template_part,
                path,
                target,
                attribute,
                available,
            });
        } else if let Some(property) = resource_type.property_required_by(attribute)
            && !resource.properties.contains_key(property)
        {
            let attribute = attribute.to_owned();
            self.faults.push(SynthesisError::MissingProperty {
                template_part,
                path,
                target,
                attribute,
                property,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::constructs::{AttributeType, LogGroup, Role, Service, Statement, Table};
    use crate::expression::Expression;
    use crate::stack::Stack;
    use crate::template::{Output, Parameter};

    /// Returns the faults of a stack that contains a table, a parameter, and an output with this
    /// `value`.
    fn faults(value: impl Into<Expression>) -> String {
        let mut stack = Stack::new("test");
        let table = Table::new("id").attribute("id", AttributeType::String);
        stack.add("EntryTable", table).unwrap();
        stack.add_parameter("ArtifactKey", Parameter::text("key")).unwrap();
        stack.add_output("Result", Output::new("result", value)).unwrap();
        stack.synthesize().map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    #[test]
    fn existing_names_are_accepted() {
        for value in [
            Expression::reference("EntryTable"),
            Expression::reference("ArtifactKey"),
            Expression::stack_name(),
            Expression::attribute("EntryTable", "Arn"),
            Expression::substitution("${EntryTable}/${EntryTable.Arn}/${AWS::Region}/${!Nothing}"),
            Expression::Substitution {
                text: "${own}".to_owned(),
                variables: vec![("own".to_owned(), Expression::reference("EntryTable"))],
            },
        ] {
            assert_eq!(faults(value), "");
        }
    }

    #[test]
    fn an_unknown_name_is_rejected_with_a_suggestion() {
        assert_eq!(
            faults(Expression::reference("EntryTabel")),
            "`Result` (output): Value refers to `EntryTabel`, which does not exist in the stack; \
             did you mean `EntryTable`?"
        );
        assert_eq!(
            faults(Expression::reference("ArtefactKey")),
            "`Result` (output): Value refers to `ArtefactKey`, which does not exist in the stack; \
             did you mean `ArtifactKey`?"
        );
        assert_eq!(
            faults(Expression::reference("AWS::NoValue")),
            "`Result` (output): Value refers to `AWS::NoValue`, which does not exist in the stack"
        );
        assert!(faults(Expression::attribute("ArtifactKey", "Arn")).contains("does not exist"));
    }

    #[test]
    fn references_are_found_inside_joins_and_substitutions() {
        let join = Expression::concatenation(["a".into(), Expression::reference("Nowhere")]);
        assert!(faults(join).starts_with("`Result` (output): Value[1] refers to `Nowhere`"));
        assert!(faults(Expression::substitution("a${Nowhere}")).contains("refers to `Nowhere`"));
        assert!(faults(Expression::substitution("${EntryTable.Name}")).contains("`Name`"));
        assert!(faults(Expression::substitution("${EntryTable")).contains("no closing `}`"));
        let variable = Expression::Substitution {
            text: "${own}".to_owned(),
            variables: vec![("own".to_owned(), Expression::reference("Nowhere"))],
        };
        assert!(faults(variable).starts_with("`Result` (output): Value.own refers to `Nowhere`"));
    }

    #[test]
    fn attributes_depend_on_the_type() {
        assert_eq!(
            faults(Expression::attribute("EntryTable", "Name")),
            "`Result` (output): Value refers to `Name` of `EntryTable` (AWS::DynamoDB::Table), \
             which does not exist; use one of Arn, StreamArn"
        );
        assert_eq!(
            faults(Expression::attribute("EntryTable", "StreamArn")),
            "`Result` (output): Value refers to `StreamArn` of `EntryTable` \
             (AWS::DynamoDB::Table), which requires the property `StreamSpecification`; set that \
             property"
        );
    }

    #[test]
    fn messages_contain_the_construct_and_the_path() {
        let mut stack = Stack::new("test");
        let arn = Expression::attribute("Entries", "Arn");
        let statement = Statement::allow("Read", ["dynamodb:Query"], [arn]);
        let role = Role::assumed_by(Service::Lambda).policy("entries", [statement]);
        stack.add("ApiRole", role).unwrap();
        assert_eq!(
            stack.synthesize().unwrap_err().to_string(),
            "`ApiRole` (AWS::IAM::Role): Policies[0].PolicyDocument.Statement[0].Resource[0] \
             refers to `Entries`, which does not exist in the stack"
        );
    }

    #[test]
    fn a_dependency_on_another_stacks_resource_is_rejected() {
        let mut stack = Stack::new("test");
        let own = stack.add("Own", LogGroup::new(1)).unwrap();
        let foreign = Stack::new("other").add("Foreign", LogGroup::new(1)).unwrap();
        stack.depends_on(&own, &foreign);
        assert_eq!(
            stack.synthesize().unwrap_err().to_string(),
            "`Own` (AWS::Logs::LogGroup): DependsOn refers to `Foreign`, which does not exist in \
             the stack"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| {
            (0..levels).fold(Expression::from("x"), |inner, _| Expression::concatenation([inner]))
        };
        assert_eq!(faults(nested(crate::expression::NESTING_MAX)), "");
        assert!(faults(nested(crate::expression::NESTING_MAX + 1)).contains("nested more than"));
    }
}
