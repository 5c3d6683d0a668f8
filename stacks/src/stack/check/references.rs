//! Every reference has to name something that the stack has.

use serde_json::Value;

use crate::constructs::ResourceType;
use crate::expression::{
    Intrinsic, NESTING_MAX, PSEUDO_PARAMETERS, SubstitutionPart, intrinsic_in, parse_substitution,
};
use crate::stack::error::{Holder, SynthesisError};
use crate::suggest;
use crate::template::Template;

/// All references of resources and outputs that lead nowhere.
pub(super) fn findings(template: &Template) -> Vec<SynthesisError> {
    let mut findings = Vec::new();
    for (logical_id, resource) in &template.resources {
        let holder = Holder::new(logical_id, &resource.resource_type);
        let mut search = Search { template, holder: &holder, found: &mut findings };
        for (name, value) in &resource.properties {
            search.value(name, value, 0);
        }
        for earlier in &resource.depends_on {
            search.resource("DependsOn", earlier);
        }
    }
    for (name, output) in &template.outputs {
        let holder = Holder::output(name);
        Search { template, holder: &holder, found: &mut findings }.value("Value", &output.value, 0);
    }
    findings
}

/// A walk through the values of one part of the template.
struct Search<'a> {
    template: &'a Template,
    holder: &'a Holder,
    found: &'a mut Vec<SynthesisError>,
}

impl Search<'_> {
    fn value(&mut self, path: &str, value: &Value, depth: usize) {
        let holder = self.holder.clone();
        let place = path.to_owned();
        if depth > NESTING_MAX {
            self.found.push(SynthesisError::TooDeep { holder, path: place });
            return;
        }
        match intrinsic_in(value) {
            Ok(None) => self.inside(path, value, depth),
            Ok(Some(intrinsic)) => self.intrinsic(path, &intrinsic, depth),
            Err(fault) => {
                self.found.push(SynthesisError::Intrinsic { holder, path: place, fault });
            }
        }
    }

    fn inside(&mut self, path: &str, value: &Value, depth: usize) {
        match value {
            Value::Array(items) => self.items(path, items, depth),
            Value::Object(entries) => {
                for (name, inner) in entries {
                    self.value(&format!("{path}.{name}"), inner, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn items(&mut self, path: &str, items: &[Value], depth: usize) {
        for (index, inner) in items.iter().enumerate() {
            self.value(&format!("{path}[{index}]"), inner, depth + 1);
        }
    }

    fn intrinsic(&mut self, path: &str, intrinsic: &Intrinsic<'_>, depth: usize) {
        match *intrinsic {
            Intrinsic::Reference(name) => self.name(path, name),
            Intrinsic::Attribute { logical_id, attribute } => {
                self.attribute(path, logical_id, attribute);
            }
            Intrinsic::Join { parts, .. } => self.items(path, parts, depth),
            Intrinsic::Substitution { text, variables } => {
                for (name, value) in variables.into_iter().flatten() {
                    self.value(&format!("{path}.{name}"), value, depth + 1);
                }
                let is_variable =
                    |name: &str| variables.is_some_and(|variables| variables.contains_key(name));
                self.substitution(path, text, is_variable);
            }
        }
    }

    fn substitution(&mut self, path: &str, text: &str, is_variable: impl Fn(&str) -> bool) {
        match parse_substitution(text) {
            Err(fault) => self.found.push(SynthesisError::Substitution {
                holder: self.holder.clone(),
                path: path.to_owned(),
                fault,
            }),
            Ok(parts) => {
                for part in parts {
                    match part {
                        SubstitutionPart::Name(name) if !is_variable(&name) => {
                            self.name(path, &name);
                        }
                        SubstitutionPart::Attribute { logical_id, attribute } => {
                            self.attribute(path, &logical_id, &attribute);
                        }
                        SubstitutionPart::Name(_) | SubstitutionPart::Text(_) => {}
                    }
                }
            }
        }
    }

    /// A resource, a parameter or a pseudo parameter.
    fn name(&mut self, path: &str, name: &str) {
        let template = self.template;
        if template.kind_of(name).is_none() && !PSEUDO_PARAMETERS.contains(&name) {
            let own = template.resources.keys().chain(template.parameters.keys());
            let all = own.map(String::as_str).chain(PSEUDO_PARAMETERS);
            self.unknown(path, name, suggest::closest(name, all));
        }
    }

    fn resource(&mut self, path: &str, logical_id: &str) {
        let resources = &self.template.resources;
        if !resources.contains_key(logical_id) {
            let nearest = suggest::closest(logical_id, resources.keys().map(String::as_str));
            self.unknown(path, logical_id, nearest);
        }
    }

    fn unknown(&mut self, path: &str, target: &str, suggestion: Option<&str>) {
        self.found.push(SynthesisError::UnknownReference {
            holder: self.holder.clone(),
            path: path.to_owned(),
            target: target.to_owned(),
            suggestion: suggestion.map(str::to_owned),
        });
    }

    fn attribute(&mut self, path: &str, logical_id: &str, attribute: &str) {
        let Some(resource) = self.template.resources.get(logical_id) else {
            return self.resource(path, logical_id);
        };
        // A type that has no construct cannot get here through a stack, so nothing is known of it.
        let Some(resource_type) = ResourceType::named(&resource.resource_type) else { return };
        let holder = self.holder.clone();
        let target = Box::new(Holder::new(logical_id, resource_type.name()));
        let (path, attribute) = (path.to_owned(), attribute.to_owned());
        let available = resource_type.attributes();
        if !available.contains(&attribute.as_str()) {
            self.found.push(SynthesisError::UnknownAttribute {
                holder,
                path,
                target,
                attribute,
                available,
            });
        } else if let Some(property) = resource_type
            .required_property(&attribute)
            .filter(|property| !resource.properties.contains_key(*property))
        {
            self.found.push(SynthesisError::MissingProperty {
                holder,
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
    use crate::stack::{Output, Parameter, Stack};

    /// The faults of a stack with a table, a parameter and an output of this value.
    fn faults(value: impl Into<Expression>) -> String {
        let mut stack = Stack::new("test");
        let table = Table::new("id").attribute("id", AttributeType::String);
        stack.add("EntryTable", table).unwrap();
        stack.parameter("ArtifactKey", Parameter::text("key")).unwrap();
        stack.output("Result", Output::new("result", value)).unwrap();
        stack.synthesize().map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    #[test]
    fn what_is_there_may_be_referred_to() {
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
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        assert_eq!(
            faults(Expression::reference("EntryTabel")),
            "`Result` (output): Value refers to `EntryTabel`, which the stack does not have; did \
             you mean `EntryTable`?"
        );
        assert_eq!(
            faults(Expression::reference("ArtefactKey")),
            "`Result` (output): Value refers to `ArtefactKey`, which the stack does not have; did \
             you mean `ArtifactKey`?"
        );
        assert_eq!(
            faults(Expression::reference("AWS::NoValue")),
            "`Result` (output): Value refers to `AWS::NoValue`, which the stack does not have"
        );
        assert!(faults(Expression::attribute("ArtifactKey", "Arn")).contains("does not have"));
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
    fn attributes_are_those_of_the_type() {
        assert_eq!(
            faults(Expression::attribute("EntryTable", "Name")),
            "`Result` (output): Value asks `EntryTable` (AWS::DynamoDB::Table) for `Name`, which \
             it does not have; use one of Arn, StreamArn"
        );
        assert_eq!(
            faults(Expression::attribute("EntryTable", "StreamArn")),
            "`Result` (output): Value asks `EntryTable` (AWS::DynamoDB::Table) for `StreamArn`, \
             which exists only with `StreamSpecification`; set it"
        );
    }

    #[test]
    fn the_construct_and_the_place_in_it_are_named() {
        let mut stack = Stack::new("test");
        let arn = Expression::attribute("Entries", "Arn");
        let statement = Statement::allow("Read", ["dynamodb:Query"], [arn]);
        let role = Role::assumed_by(Service::Lambda).policy("entries", [statement]);
        stack.add("ApiRole", role).unwrap();
        assert_eq!(
            stack.synthesize().unwrap_err().to_string(),
            "`ApiRole` (AWS::IAM::Role): Policies[0].PolicyDocument.Statement[0].Resource[0] \
             refers to `Entries`, which the stack does not have"
        );
    }

    #[test]
    fn a_dependency_on_another_stacks_resource_is_refused() {
        let mut stack = Stack::new("test");
        let own = stack.add("Own", LogGroup::new(1)).unwrap();
        let foreign = Stack::new("other").add("Foreign", LogGroup::new(1)).unwrap();
        stack.depends_on(&own, &foreign);
        assert_eq!(
            stack.synthesize().unwrap_err().to_string(),
            "`Own` (AWS::Logs::LogGroup): DependsOn refers to `Foreign`, which the stack does not \
             have"
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| {
            (0..levels).fold(Expression::from("x"), |inner, _| Expression::concatenation([inner]))
        };
        assert_eq!(faults(nested(crate::expression::NESTING_MAX)), "");
        assert!(faults(nested(crate::expression::NESTING_MAX + 1)).contains("nested deeper"));
    }
}
