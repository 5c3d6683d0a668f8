//! Finds dependency cycles between resources.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::expression::{
    Intrinsic, NESTING_MAX, SubstitutionPart, intrinsic_in, parse_substitution,
};
use crate::stack::error::{Holder, SynthesisError};
use crate::template::{Resource, Template};

/// Dependencies by logical id: the resources that must be created before each resource.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<String>>;

/// Returns one error per dependency cycle. Cycles that share a resource may be reported as a single
/// cycle.
pub(super) fn find_cycles(template: &Template) -> Vec<SynthesisError> {
    let graph: Graph<'_> = template
        .resources
        .iter()
        .map(|(logical_id, resource)| (logical_id.as_str(), dependencies(resource, template)))
        .collect();
    let mut visited = BTreeSet::new();
    let mut faults = Vec::new();
    for &start in graph.keys() {
        if let Some(path) = find_cycle_from(start, &graph, &mut visited) {
            let first = path.first().cloned().unwrap_or_default();
            let kind = template.kind_of(&first).unwrap_or_default();
            let holder = Holder::new(&first, kind);
            faults.push(SynthesisError::DependencyCycle { holder, path });
        }
    }
    faults
}

fn dependencies(resource: &Resource, template: &Template) -> BTreeSet<String> {
    let mut names = resource.depends_on.iter().cloned().collect();
    for value in resource.properties.values() {
        collect_names(value, 0, &mut names);
    }
    names.retain(|name| template.resources.contains_key(name));
    names
}

/// Collects all names referenced by a value. Malformed or too deeply nested values are ignored
/// here, because other checks report them.
fn collect_names(value: &Value, depth: usize, names: &mut BTreeSet<String>) {
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
            parts.iter().for_each(|part| collect_names(part, depth + 1, names));
        }
        Ok(Some(Intrinsic::Substitution { text, variables })) => {
            let variables = variables.into_iter().flatten();
            variables.for_each(|(_, inner)| collect_names(inner, depth + 1, names));
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
            Value::Array(items) => {
                items.iter().for_each(|item| collect_names(item, depth + 1, names));
            }
            Value::Object(entries) => {
                entries.values().for_each(|inner| collect_names(inner, depth + 1, names));
            }
            _ => {}
        },
        Err(_) => {}
    }
}

/// Walks depth-first from `start` and returns the first cycle. Adds all resources reached to
/// `visited`.
///
/// The walk uses an explicit stack; recursion along a dependency chain of maximum length could
/// overflow the thread's stack.
fn find_cycle_from<'a>(
    start: &'a str,
    graph: &'a Graph<'a>,
    visited: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    let mut walk = vec![(start, dependencies_of(start, graph))];
    while let Some((current, pending)) = walk.last_mut() {
        let current = *current;
        let next = if visited.contains(current) { None } else { pending.next() };
        let Some(next) = next else {
            visited.insert(current);
            walk.pop();
            continue;
        };
        if let Some(cycle_start) = walk.iter().position(|(name, _)| name == next) {
            let members = walk.iter().skip(cycle_start).map(|(name, _)| (*name).to_owned());
            let path = members.chain([next.clone()]).collect();
            visited.extend(walk.iter().map(|(name, _)| *name));
            return Some(path);
        }
        walk.push((next, dependencies_of(next, graph)));
    }
    None
}

fn dependencies_of<'a>(
    name: &str,
    graph: &'a Graph<'a>,
) -> impl Iterator<Item = &'a String> + use<'a> {
    graph.get(name).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use crate::constructs::{LogGroup, Role, Service, Statement};
    use crate::expression::Expression;
    use crate::stack::Stack;

    fn role_that_uses(expression: Expression) -> Role {
        let statement = Statement::allow("Use", ["logs:PutLogEvents"], [expression]);
        Role::assumed_by(Service::Lambda).policy("use", [statement])
    }

    #[test]
    fn reports_the_resources_of_a_cycle() {
        let mut stack = Stack::new("test");
        let arn = |name: &str| Expression::attribute(name, "Arn");
        stack.add("First", role_that_uses(arn("Second"))).unwrap();
        stack.add("Second", role_that_uses(Expression::substitution("${Third.Arn}"))).unwrap();
        stack.add("Third", role_that_uses(Expression::concatenation([arn("Second")]))).unwrap();
        assert_eq!(
            stack.synthesize().unwrap_err().to_string(),
            "`Second` (AWS::IAM::Role): dependency cycle: Second -> Third -> Second; remove \
             one of these references"
        );
    }

    #[test]
    fn a_resource_cannot_depend_on_itself() {
        let mut stack = Stack::new("test");
        stack.add("Only", role_that_uses(Expression::attribute("Only", "Arn"))).unwrap();
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
    fn two_paths_to_a_resource_are_not_a_cycle() {
        let mut stack = Stack::new("test");
        let arn = |name: &str| Expression::attribute(name, "Arn");
        stack.add("Base", LogGroup::new(1)).unwrap();
        stack.add("Left", role_that_uses(arn("Base"))).unwrap();
        stack.add("Right", role_that_uses(arn("Base"))).unwrap();
        let both = Expression::concatenation([arn("Left"), arn("Right")]);
        stack.add("Above", role_that_uses(both)).unwrap();
        assert!(stack.synthesize().is_ok());
    }
}
