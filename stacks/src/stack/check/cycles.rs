//! Finds dependency cycles between resources.

use std::collections::{BTreeMap, BTreeSet, btree_set};

use serde_json::Value;

use crate::expression::{
    Intrinsic, NESTING_MAX, SubstitutionPart, parse_intrinsic, parse_substitution,
};
use crate::stack::error::{SynthesisError, TemplatePart};
use crate::template::{Resource, Template};

/// The logical ids of the resources that must be created before each resource.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<String>>;

/// If several cycles share a resource, only one of them may be reported.
pub(super) fn find_cycles(template: &Template) -> Vec<SynthesisError> {
    let mut graph = Graph::new();
    for (logical_id, resource) in &template.resources {
        graph.insert(logical_id, resource_dependencies(resource, template));
    }
    let mut visited = BTreeSet::new();
    let mut faults = Vec::new();
    for &start_id in graph.keys() {
        let Some(cycle) = find_cycle_from(start_id, &graph, &mut visited) else { continue };
        let first_id = cycle.first().map_or(start_id, String::as_str);
        let kind = template.kind_of_logical_id(first_id).unwrap_or_default();
        let template_part = TemplatePart::new(first_id, kind);
        faults.push(SynthesisError::DependencyCycle { template_part, path: cycle });
    }
    faults
}

fn resource_dependencies(resource: &Resource, template: &Template) -> BTreeSet<String> {
    let mut referenced_names = resource.depends_on.iter().cloned().collect();
    for property_value in resource.properties.values() {
        collect_referenced_names(property_value, 0, &mut referenced_names);
    }
    referenced_names.retain(|name| template.resources.contains_key(name));
    referenced_names
}

/// Malformed and too deeply nested values are ignored, because other checks report them.
fn collect_referenced_names(value: &Value, depth: usize, names: &mut BTreeSet<String>) {
    if depth > NESTING_MAX {
        return;
    }
    match parse_intrinsic(value) {
        Ok(Some(Intrinsic::Reference(name))) => {
            names.insert(name.to_owned());
        }
        Ok(Some(Intrinsic::Attribute { logical_id, .. })) => {
            names.insert(logical_id.to_owned());
        }
        Ok(Some(Intrinsic::Join { parts, .. })) => collect_from_values(parts, depth, names),
        Ok(Some(Intrinsic::Substitution { text, variables })) => {
            names.extend(placeholder_names(text));
            if let Some(variables) = variables {
                collect_from_values(variables.values(), depth, names);
            }
        }
        Ok(None) => match value {
            Value::Array(items) => collect_from_values(items, depth, names),
            Value::Object(entries) => collect_from_values(entries.values(), depth, names),
            _ => {}
        },
        Err(_) => {}
    }
}

fn collect_from_values<'a>(
    inner_values: impl IntoIterator<Item = &'a Value>,
    depth: usize,
    names: &mut BTreeSet<String>,
) {
    for inner_value in inner_values {
        collect_referenced_names(inner_value, depth + 1, names);
    }
}

fn placeholder_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in parse_substitution(text).unwrap_or_default() {
        match part {
            SubstitutionPart::Text(_) => {}
            SubstitutionPart::Name(name) => names.push(name),
            SubstitutionPart::Attribute { logical_id, .. } => names.push(logical_id),
        }
    }
    names
}

/// Searches depth-first from `start_id` and returns the first cycle. Adds all resources that it
/// reaches to `visited`.
///
/// The search is iterative, because recursion over a long chain of dependencies could overflow the
/// thread's stack.
fn find_cycle_from<'a>(
    start_id: &'a str,
    graph: &'a Graph<'a>,
    visited: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    let mut path = vec![PathStep::new(start_id, graph)];
    while let Some(last_step) = path.last_mut() {
        let is_finished = visited.contains(last_step.logical_id);
        let next_dependency =
            if is_finished { None } else { last_step.pending_dependencies.next() };
        let Some(dependency) = next_dependency else {
            visited.insert(last_step.logical_id);
            path.pop();
            continue;
        };
        if let Some(cycle) = cycle_closed_by(dependency, &path) {
            visited.extend(path.iter().map(|step| step.logical_id));
            return Some(cycle);
        }
        path.push(PathStep::new(dependency, graph));
    }
    None
}

/// Returns the part of `path` that starts and ends with `dependency`, or `None` if the path does
/// not contain `dependency` yet.
fn cycle_closed_by(dependency: &str, path: &[PathStep<'_>]) -> Option<Vec<String>> {
    let cycle_start = path.iter().position(|step| step.logical_id == dependency)?;
    let mut cycle = Vec::new();
    for step in path.iter().skip(cycle_start) {
        cycle.push(step.logical_id.to_owned());
    }
    cycle.push(dependency.to_owned());
    Some(cycle)
}

struct PathStep<'a> {
    logical_id: &'a str,
    pending_dependencies: btree_set::Iter<'a, String>,
}

impl<'a> PathStep<'a> {
    fn new(logical_id: &'a str, graph: &'a Graph<'a>) -> Self {
        let pending_dependencies = match graph.get(logical_id) {
            Some(dependencies) => dependencies.iter(),
            None => btree_set::Iter::default(),
        };
        Self { logical_id, pending_dependencies }
    }
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
