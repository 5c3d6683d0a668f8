//! Derives the arrows of a picture from the properties of resources.

use std::collections::BTreeMap;

use serde_json::Value;

use super::access::{Grant, role_grants, writing_verb};
use super::nodes::{NodeId, NodeKind};
use super::scene::{Scene, property, type_name};
use super::verb::Verb;
use crate::constructs::ResourceType;
use crate::difference::Document;
use crate::expression::references_in;

/// The attribute of a table with the ARN of its change stream.
const STREAM_ATTRIBUTE: &str = "StreamArn";
const ALARM_ACTIONS: [&str; 3] = ["AlarmActions", "InsufficientDataActions", "OKActions"];

pub(super) fn add_arrows(scene: &mut Scene, document: &Document) {
    let resources: BTreeMap<&str, &Value> = document.resources().collect();
    for (logical_id, resource) in &resources {
        match ResourceType::from_name(type_name(resource)) {
            Some(ResourceType::FunctionUrl) => {
                let function = property(resource, "TargetFunctionArn");
                scene.connect(&[NodeId::resource(logical_id)], Verb::Starts, function);
            }
            Some(ResourceType::EventSourceMapping) => scene.add_event_source(resource),
            Some(ResourceType::Queue) => {
                let dead_letters = property(resource, "RedrivePolicy");
                let queue = NodeId::resource(logical_id);
                scene.connect(&[queue], Verb::FailedMessages, dead_letters);
            }
            Some(ResourceType::Bucket) => {
                let notifications = property(resource, "NotificationConfiguration");
                scene.notify(&NodeId::resource(logical_id), notifications);
            }
            Some(ResourceType::Topic) => scene.add_subscriptions(logical_id, resource),
            Some(ResourceType::Alarm) => scene.add_alarm_actions(resource),
            _ => {}
        }
    }
    // The arrows of a role depend on the event sources of its function.
    for (logical_id, resource) in &resources {
        if ResourceType::from_name(type_name(resource)) == Some(ResourceType::Function) {
            let function = NodeId::resource(logical_id);
            scene.add_role_access(&function, resource, &resources);
            scene.add_variables(&function, resource);
        }
    }
}

impl Scene {
    fn add_arrow(&mut self, from: &NodeId, verb: Verb, to: NodeId) {
        self.arrows.entry((from.clone(), to)).or_default().insert(verb);
    }

    /// Adds arrows to all resources that a value references.
    fn connect(&mut self, from: &[NodeId], verb: Verb, value: Option<&Value>) {
        for to in value.map(|value| self.nodes_referenced_by(value)).unwrap_or_default() {
            for node_id in from {
                self.add_arrow(node_id, verb, to.clone());
            }
        }
    }

    fn connect_outside(&mut self, from: &NodeId, verb: Verb, name: String) {
        let to = NodeId::Outside(name);
        self.nodes.insert(to.clone(), NodeKind::Outside);
        self.add_arrow(from, verb, to);
    }

    fn has_arrow(&self, from: &NodeId, to: &NodeId) -> bool {
        self.arrows.contains_key(&(from.clone(), to.clone()))
    }

    fn add_event_source(&mut self, event_source: &Value) {
        let referenced = |name| {
            let value = property(event_source, name);
            value.map(|value| self.nodes_referenced_by(value)).unwrap_or_default()
        };
        let (sources, functions) = (referenced("EventSourceArn"), referenced("FunctionName"));
        for function in &functions {
            for source in &sources {
                self.add_arrow(source, Verb::Starts, function.clone());
            }
        }
        let on_failure = property(event_source, "DestinationConfig");
        self.connect(&functions, Verb::FailedBatches, on_failure);
    }

    /// A notification starts a function, and is sent to a queue or topic.
    fn notify(&mut self, from: &NodeId, targets: Option<&Value>) {
        for to in targets.map(|value| self.nodes_referenced_by(value)).unwrap_or_default() {
            let is_function = self.nodes.get(&to) == Some(&NodeKind::Function);
            let verb = if is_function { Verb::Starts } else { Verb::Sends };
            self.add_arrow(from, verb, to);
        }
    }

    fn add_subscriptions(&mut self, logical_id: &str, topic: &Value) {
        let topic_id = NodeId::resource(logical_id);
        let subscriptions = property(topic, "Subscription").and_then(Value::as_array);
        for subscription in subscriptions.into_iter().flatten() {
            let endpoint = subscription.get("Endpoint");
            let protocol = subscription.get("Protocol").and_then(Value::as_str);
            match (endpoint, protocol) {
                // The address itself is not shown, because it may be that of a person.
                (Some(Value::String(_)), Some(protocol)) => {
                    self.connect_outside(&topic_id, Verb::Sends, protocol.to_owned());
                }
                _ => self.notify(&topic_id, endpoint),
            }
        }
    }

    fn add_alarm_actions(&mut self, alarm: &Value) {
        for action in ALARM_ACTIONS.iter().filter_map(|name| property(alarm, name)?.as_array()) {
            for target in action {
                match target.as_str() {
                    Some(arn) => {
                        self.connect_outside(&NodeId::Alarms, Verb::Sends, short_arn(arn));
                    }
                    None => self.notify(&NodeId::Alarms, Some(target)),
                }
            }
        }
    }

    fn add_role_access(
        &mut self,
        function: &NodeId,
        resource: &Value,
        resources: &BTreeMap<&str, &Value>,
    ) {
        for reference in property(resource, "Role").map(references_in).unwrap_or_default() {
            let Some(role) = resources.get(reference.logical_id.as_str()) else { continue };
            for grant in role_grants(role) {
                self.add_grant(function, &grant);
            }
        }
    }

    fn add_grant(&mut self, function: &NodeId, grant: &Grant) {
        let target = NodeId::resource(&grant.target.logical_id);
        let Some(kind) = self.nodes.get(&target) else { return };
        let is_source = self.has_arrow(&target, function);
        let reads_events =
            *kind == NodeKind::Queue || grant.target.attribute.as_deref() == Some(STREAM_ATTRIBUTE);
        let verb = writing_verb(kind);
        if grant.reads && !(is_source && reads_events) {
            self.add_arrow(function, Verb::Reads, target.clone());
        }
        // Lambda sends failed batches with the role of the function.
        let sends_batches = self
            .arrows
            .get(&(function.clone(), target.clone()))
            .is_some_and(|verbs| verbs.contains(&Verb::FailedBatches));
        if grant.writes && !(sends_batches && verb == Verb::Sends) {
            self.add_arrow(function, verb, target);
        }
    }

    fn add_variables(&mut self, function: &NodeId, resource: &Value) {
        let environment = property(resource, "Environment");
        let variables = environment.and_then(|value| value.get("Variables")?.as_object());
        for value in variables.into_iter().flat_map(|variables| variables.values()) {
            if let Some(host) = value.as_str().and_then(host_of_url) {
                self.connect_outside(function, Verb::Calls, host.to_owned());
            }
            for to in self.nodes_referenced_by(value) {
                if !self.has_arrow(function, &to) && !self.has_arrow(&to, function) {
                    self.add_arrow(function, Verb::RefersTo, to);
                }
            }
        }
    }
}

/// Returns `sns operators` for `arn:aws:sns:eu-central-1:123456789012:operators`.
fn short_arn(arn: &str) -> String {
    let parts: Vec<&str> = arn.split(':').collect();
    match parts.as_slice() {
        ["arn", _, service, .., name] => format!("{service} {name}"),
        _ => arn.to_owned(),
    }
}

/// Returns `None` if the text is not a URL. User names and passwords are omitted.
fn host_of_url(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host).filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_of_a_url_is_shown() {
        for (text, host) in [
            ("https://a.example/b?c#d", Some("a.example")),
            ("http://user:secret@a.example:8080", Some("a.example:8080")),
            ("https:///a", None),
            ("a.example", None),
        ] {
            assert_eq!(host_of_url(text), host, "{text}");
        }
    }

    #[test]
    fn arns_are_shortened_to_service_and_name() {
        assert_eq!(short_arn("arn:aws:sns:eu-central-1:123456789012:ops"), "sns ops");
        assert_eq!(short_arn("arn:aws:sns"), "arn:aws:sns");
        assert_eq!(short_arn("ops"), "ops");
    }
}
