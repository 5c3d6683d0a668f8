//! Checks that the visibility timeout of a queue is long enough for the function that processes its
//! messages.

use serde_json::Value;

use crate::constructs::ResourceType;
use crate::expression::{Intrinsic, parse_intrinsic};
use crate::stack::error::{SynthesisError, TemplatePart};
use crate::template::limits::MIN_VISIBILITY_PER_TIMEOUT;
use crate::template::{Resource, Template};

/// The default visibility timeout of SQS queues, in seconds.
const DEFAULT_VISIBILITY_S: u64 = 30;
/// The default timeout of Lambda functions, in seconds.
const DEFAULT_TIMEOUT_S: u64 = 3;

/// Returns an error for each queue that could deliver a message again while a function still
/// processes it.
pub(super) fn find_short_visibility_timeouts(template: &Template) -> Vec<SynthesisError> {
    let event_sources = template
        .resources
        .values()
        .filter(|resource| resource.resource_type == ResourceType::EventSourceMapping.name());
    event_sources.filter_map(|event_source| check_event_source(template, event_source)).collect()
}

fn check_event_source(template: &Template, event_source: &Resource) -> Option<SynthesisError> {
    let queue_reference = event_source.properties.get("EventSourceArn")?;
    let function_reference = event_source.properties.get("FunctionName")?;
    let (queue_id, queue) = find_target(template, queue_reference, ResourceType::Queue)?;
    let (function_id, function) =
        find_target(template, function_reference, ResourceType::Function)?;
    let visibility_s = number_property(queue, "VisibilityTimeout").unwrap_or(DEFAULT_VISIBILITY_S);
    let timeout_s = number_property(function, "Timeout").unwrap_or(DEFAULT_TIMEOUT_S);
    if visibility_s >= timeout_s.saturating_mul(MIN_VISIBILITY_PER_TIMEOUT) {
        return None;
    }
    Some(SynthesisError::VisibilityTooShort {
        template_part: TemplatePart::new(queue_id, &queue.resource_type),
        visibility_s,
        function: function_id.to_owned(),
        timeout_s,
    })
}

fn number_property(resource: &Resource, name: &str) -> Option<u64> {
    resource.properties.get(name)?.as_u64()
}

/// Returns the resource that a `Ref` or `Fn::GetAtt` references, or `None` if its type is not
/// `resource_type`.
fn find_target<'a>(
    template: &'a Template,
    reference: &'a Value,
    resource_type: ResourceType,
) -> Option<(&'a str, &'a Resource)> {
    let logical_id = match parse_intrinsic(reference).ok()?? {
        Intrinsic::Reference(logical_id) | Intrinsic::Attribute { logical_id, .. } => logical_id,
        Intrinsic::Join { .. } | Intrinsic::Substitution { .. } => return None,
    };
    let resource = template.resources.get(logical_id)?;
    if resource.resource_type != resource_type.name() {
        return None;
    }
    Some((logical_id, resource))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(visibility: &str, timeout: &str) -> Vec<String> {
        let text = format!(
            r#"{{"AWSTemplateFormatVersion": "2010-09-09", "Description": "test", "Resources": {{
            "Jobs": {{"Type": "AWS::SQS::Queue", "Properties": {{{visibility}}}}},
            "Worker": {{"Type": "AWS::Lambda::Function", "Properties": {{{timeout}}}}},
            "Source": {{"Type": "AWS::Lambda::EventSourceMapping", "Properties": {{
                "EventSourceArn": {{"Fn::GetAtt": ["Jobs", "Arn"]}},
                "FunctionName": {{"Ref": "Worker"}}}}}}}}}}"#
        );
        let found = find_short_visibility_timeouts(&Template::from_json(&text).unwrap());
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_visibility_timeout_is_a_multiple_of_the_function_timeout() {
        assert!(faults(r#""VisibilityTimeout": 600"#, r#""Timeout": 100"#).is_empty());
        assert_eq!(
            faults(r#""VisibilityTimeout": 599"#, r#""Timeout": 100"#),
            [
                "`Jobs` (AWS::SQS::Queue): the visibility timeout is 599 s, but `Worker` has a timeout \
              of 100 s; set `VisibilityTimeout` to 600 or more"
            ]
        );
    }

    #[test]
    fn missing_timeouts_are_the_defaults_of_the_service() {
        assert!(faults("", "").is_empty());
        assert_eq!(faults("", r#""Timeout": 6"#).len(), 1);
        assert_eq!(faults(r#""VisibilityTimeout": 17"#, "").len(), 1);
    }
}
