//! Resources must not wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::expression::{
    Intrinsic, NESTING_MAX, SubstitutionPart, intrinsic_in, parse_substitution,
};
use crate::stack::error::{Holder, SynthesisError};
use crate::template::{Resource, Template};

/// Resources by logical id, each with those that have to be made before it.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<String>>;

/// One finding for each circle; circles that share a resource may be told as one.
pub(super) fn findings(template: &Template) -> Vec<SynthesisError> {
    let graph: Graph<'_> = template
        .resources
        .iter()
        .map(|(logical_id, resource)| (logical_id.as_str(), earlier(resource, template)))
        .collect();
    let mut done = BTreeSet::new();
    let mut findings = Vec::new();
    for &start in graph.keys() {
        if let Some(path) = circle_from(start, &graph, &mut done) {
            let first = path.first().cloned().unwrap_or_default();
            let kind = template.kind_of(&first).unwrap_or_default();
            findings.push(SynthesisError::Circle { holder: Holder::new(&first, kind), path });
        }
    }
    findings
}

fn earlier(resource: &Resource, template: &Template) -> BTreeSet<String> {
    let mut names = resource.depends_on.iter().cloned().collect();
    for value in resource.properties.values() {
        collect(value, 0, &mut names);
    }
    names.retain(|name| template.resources.contains_key(name));
    names
}

/// All names that a value refers to. What is malformed or too deep has a finding of its own.
fn collect(value: &Value, depth: usize, names: &mut BTreeSet<String>) {
    if depth > NESTING_MAX {
        return;
    }
    match intrinsic_in(value) {
        Ok(Some(Intrinsic::Reference(name))) => {
            names.insert(name.to_owned());
        }
        Ok(Some(Intrinsic::Attribute { logical_id, .. })) => {
            names.insert(logical_id.to_owned());
        }
        Ok(Some(Intrinsic::Join { parts, .. })) => {
            parts.iter().for_each(|part| collect(part, depth + 1, names));
        }
        Ok(Some(Intrinsic::Substitution { text, variables })) => {
            let variables = variables.into_iter().flatten();
            variables.for_each(|(_, inner)| collect(inner, depth + 1, names));
            for part in parse_substitution(text).unwrap_or_default() {
                match part {
                    SubstitutionPart::Text(_) => {}
                    SubstitutionPart::Name(name) => {
                        names.insert(name);
                    }
                    SubstitutionPart::Attribute { logical_id, .. } => {
                        names.insert(logical_id);
                    }
                }
            }
        }
        Ok(None) => match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, depth + 1, names)),
            Value::Object(entries) => {
                entries.values().for_each(|inner| collect(inner, depth + 1, names));
            }
            _ => {}
        },
        Err(_) => {}
    }
}

/// The first circle that a walk from `start` meets. `done` are resources that earlier walks have
/// finished. The walk keeps its own stack: a chain of 500 resources must not exhaust the thread's.
fn circle_from<'a>(
    start: &'a str,
    graph: &'a Graph<'a>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    let mut way = vec![(start, next_of(start, graph))];
    while let Some((current, next)) = way.last_mut() {
        let current = *current;
        match next.next().filter(|_| !done.contains(current)) {
            None => {
                done.insert(current);
                way.pop();
            }
            Some(name) => {
                if let Some(from) = way.iter().position(|(on_way, _)| on_way == name) {
                    let members = way.iter().skip(from).map(|(on_way, _)| (*on_way).to_owned());
                    let path = members.chain([name.clone()]).collect();
                    done.extend(way.iter().map(|(on_way, _)| *on_way));
                    return Some(path);
                }
                way.push((name, next_of(name, graph)));
            }
        }
    }
    None
}

fn next_of<'a>(name: &str, graph: &'a Graph<'a>) -> impl Iterator<Item = &'a String> + use<'a> {
    graph.get(name).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use crate::constructs::{LogGroup, Role, Service, Statement};
    use crate::expression::Expression;
    use crate::stack::Stack;

    fn waiting_for(expression: Expression) -> Role {
        let statement = Statement::allow("Use", ["logs:PutLogEvents"], [expression]);
        Role::assumed_by(Service::Lambda).policy("use", [statement])
    }

    #[test]
    fn a_circle_is_told_with_the_way_round() {
        let mut stack = Stack::new("test");
        let arn = |name: &str| Expression::attribute(name, "Arn");
        stack.add("First", waiting_for(arn("Second"))).unwrap();
        stack.add("Second", waiting_for(Expression::substitution("${Third.Arn}"))).unwrap();
        stack.add("Third", waiting_for(Expression::concatenation([arn("Second")]))).unwrap();
        assert_eq!(
            stack.synthesize().unwrap_err().to_string(),
            "`Second` (AWS::IAM::Role): it waits for itself: Second -> Third -> Second; remove \
             one of these references"
        );
    }

    #[test]
    fn a_resource_must_not_wait_for_itself() {
        let mut stack = Stack::new("test");
        stack.add("Only", waiting_for(Expression::attribute("Only", "Arn"))).unwrap();
        let message = stack.synthesize().unwrap_err().to_string();
        assert!(message.contains("Only -> Only"), "{message}");
    }

    #[test]
    fn explicit_dependencies_count() {
        let mut stack = Stack::new("test");
        let first = stack.add("First", LogGroup::new(1)).unwrap();
        let second = stack.add("Second", LogGroup::new(1)).unwrap();
        stack.depends_on(&first, &second);
        stack.depends_on(&second, &first);
        let message = stack.synthesize().unwrap_err().to_string();
        assert!(message.contains("First -> Second -> First"), "{message}");
    }

    #[test]
    fn two_ways_to_the_same_resource_are_no_circle() {
        let mut stack = Stack::new("test");
        let arn = |name: &str| Expression::attribute(name, "Arn");
        stack.add("Base", LogGroup::new(1)).unwrap();
        stack.add("Left", waiting_for(arn("Base"))).unwrap();
        stack.add("Right", waiting_for(arn("Base"))).unwrap();
        let both = Expression::concatenation([arn("Left"), arn("Right")]);
        stack.add("Above", waiting_for(both)).unwrap();
        assert!(stack.synthesize().is_ok());
    }
}
