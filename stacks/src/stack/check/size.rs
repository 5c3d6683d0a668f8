//! Checks that a template does not exceed CloudFormation's limits.

use crate::stack::error::SynthesisError;
use crate::template::Template;
use crate::template::limits::{
    DESCRIPTION_BYTES_MAX, OUTPUTS_MAX, PARAMETERS_MAX, RESOURCES_MAX, TEMPLATE_BYTES_MAX,
};

pub(super) fn find_exceeded_limits(template: &Template) -> Vec<SynthesisError> {
    let mut faults = Vec::new();
    faults.extend(find_exceeded_count("resources", template.resources.keys(), RESOURCES_MAX));
    faults.extend(find_exceeded_count("parameters", template.parameters.keys(), PARAMETERS_MAX));
    faults.extend(find_exceeded_count("outputs", template.outputs.keys(), OUTPUTS_MAX));
    let description_bytes = template.description.len();
    if description_bytes > DESCRIPTION_BYTES_MAX {
        faults.push(SynthesisError::DescriptionTooLong { bytes: description_bytes });
    }
    let template_bytes = template.to_json().len();
    if template_bytes > TEMPLATE_BYTES_MAX {
        let largest = find_largest_resource(template);
        faults.push(SynthesisError::TemplateTooLarge { bytes: template_bytes, largest });
    }
    faults
}

fn find_exceeded_count<'a>(
    section: &'static str,
    mut names: impl ExactSizeIterator<Item = &'a String>,
    limit: usize,
) -> Option<SynthesisError> {
    let count = names.len();
    let first_beyond = names.nth(limit)?.clone();
    Some(SynthesisError::TooMany { section, count, limit, first_beyond })
}

fn find_largest_resource(template: &Template) -> String {
    let largest_resource = template
        .resources
        .iter()
        .max_by_key(|(_, resource)| serde_json::Value::from(*resource).to_string().len());
    largest_resource.map(|(logical_id, _)| logical_id.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constructs::LogGroup;
    use crate::stack::Stack;
    use crate::template::{Output, Parameter};

    fn faults_of(fill: impl FnOnce(&mut Stack)) -> Vec<SynthesisError> {
        let mut stack = Stack::new("test");
        fill(&mut stack);
        stack.synthesize().map_or_else(|errors| errors.0, |_| Vec::new())
    }

    fn resources(count: usize) -> Vec<SynthesisError> {
        faults_of(|stack| {
            for number in 0..count {
                stack.add(&format!("Logs{number:03}"), LogGroup::new(1)).unwrap();
            }
        })
    }

    #[test]
    fn resources_are_bounded() {
        assert_eq!(resources(RESOURCES_MAX), []);
        assert_eq!(
            resources(RESOURCES_MAX + 1)[0].to_string(),
            "the stack has 501 resources, but CloudFormation accepts at most 500; the first entry \
             beyond the limit is `Logs500`"
        );
    }

    #[test]
    fn parameters_and_outputs_are_bounded() {
        for (section, count, is_fine) in [
            ("parameters", PARAMETERS_MAX, true),
            ("parameters", PARAMETERS_MAX + 1, false),
            ("outputs", OUTPUTS_MAX, true),
            ("outputs", OUTPUTS_MAX + 1, false),
        ] {
            let faults = faults_of(|stack| {
                for number in 0..count {
                    let name = format!("N{number}");
                    if section == "outputs" {
                        stack.add_output(&name, Output::new("x", "y")).unwrap();
                    } else {
                        stack.add_parameter(&name, Parameter::text("x")).unwrap();
                    }
                }
            });
            assert_eq!(faults.is_empty(), is_fine, "{count} {section}: {faults:?}");
        }
    }

    #[test]
    fn the_description_is_bounded() {
        let with = |bytes: usize| Stack::new(&"x".repeat(bytes)).synthesize();
        assert!(with(DESCRIPTION_BYTES_MAX).is_ok());
        assert_eq!(
            with(DESCRIPTION_BYTES_MAX + 1).unwrap_err().0,
            [SynthesisError::DescriptionTooLong { bytes: DESCRIPTION_BYTES_MAX + 1 }]
        );
    }

    #[test]
    fn the_template_is_bounded_to_the_byte() {
        let with = |bytes: usize| {
            let mut stack = Stack::new("test");
            stack.add("Logs", LogGroup::new(1)).unwrap();
            stack.add_output("Filler", Output::new("x", "y".repeat(bytes))).unwrap();
            stack.synthesize()
        };
        let overhead = with(0).unwrap().to_json().len();
        assert!(with(TEMPLATE_BYTES_MAX - overhead).is_ok());
        assert_eq!(
            with(TEMPLATE_BYTES_MAX - overhead + 1).unwrap_err().0,
            [SynthesisError::TemplateTooLarge {
                bytes: TEMPLATE_BYTES_MAX + 1,
                largest: "Logs".to_owned()
            }]
        );
    }
}
