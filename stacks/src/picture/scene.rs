//! Reads the boxes of a template, and which resources belong to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::nodes::{NodeId, NodeKind};
use super::verb::Verb;
use crate::constructs::ResourceType;
use crate::difference::Document;
use crate::expression::{Reference, references_in};

/// The verbs of all arrows, by the boxes in which an arrow starts and ends.
pub(super) type Arrows = BTreeMap<(NodeId, NodeId), BTreeSet<Verb>>;

#[derive(Default)]
pub(super) struct Scene {
    pub(super) nodes: BTreeMap<NodeId, NodeKind>,
    pub(super) arrows: Arrows,
    /// The boxes to which a resource without a box belongs, by its logical id.
    pub(super) owners: BTreeMap<String, BTreeSet<NodeId>>,
}

impl Scene {
    pub(super) fn without_arrows(document: &Document) -> Self {
        let mut scene = Self::default();
        for (logical_id, resource) in document.resources() {
            if let Some(kind) = NodeKind::of_type(type_name(resource)) {
                scene.nodes.insert(NodeId::resource(logical_id), kind);
            }
        }
        scene.find_owners(document);
        scene.add_alarms(document);
        scene.add_orphans(document);
        scene
    }

    pub(super) fn has_resource(&self, logical_id: &str) -> bool {
        self.nodes.contains_key(&NodeId::resource(logical_id))
    }

    /// Returns the boxes of the resources that a value references.
    pub(super) fn nodes_referenced_by(&self, value: &Value) -> Vec<NodeId> {
        let mut referenced_nodes: Vec<NodeId> = references_in(value)
            .into_iter()
            .map(|Reference { logical_id, .. }| NodeId::Resource(logical_id))
            .filter(|node_id| self.nodes.contains_key(node_id))
            .collect();
        referenced_nodes.dedup();
        referenced_nodes
    }

    fn find_owners(&mut self, document: &Document) {
        for (logical_id, resource) in document.resources() {
            match ResourceType::from_name(type_name(resource)) {
                // These resources name their owner.
                Some(ResourceType::EventSourceMapping | ResourceType::Permission) => {
                    self.add_owners(logical_id, property(resource, "FunctionName"));
                }
                Some(ResourceType::BucketPolicy) => {
                    self.add_owners(logical_id, property(resource, "Bucket"));
                }
                Some(ResourceType::QueuePolicy) => {
                    self.add_owners(logical_id, property(resource, "Queues"));
                }
                // A function names the resources that it owns.
                Some(ResourceType::Function) => {
                    self.own(logical_id, property(resource, "Role"));
                    self.own(logical_id, property(resource, "LoggingConfig"));
                }
                _ => {}
            }
        }
    }

    fn add_owners(&mut self, logical_id: &str, value: Option<&Value>) {
        let owners = value.map(|value| self.nodes_referenced_by(value)).unwrap_or_default();
        if !owners.is_empty() {
            self.owners.entry(logical_id.to_owned()).or_default().extend(owners);
        }
    }

    fn own(&mut self, owner_id: &str, value: Option<&Value>) {
        for Reference { logical_id, .. } in value.map(references_in).unwrap_or_default() {
            if !self.has_resource(&logical_id) {
                self.owners.entry(logical_id).or_default().insert(NodeId::resource(owner_id));
            }
        }
    }

    fn add_alarms(&mut self, document: &Document) {
        let mut alarms = 0;
        for (logical_id, resource) in document.resources() {
            if ResourceType::from_name(type_name(resource)) == Some(ResourceType::Alarm) {
                alarms += 1;
                self.owners.entry(logical_id.to_owned()).or_default().insert(NodeId::Alarms);
            }
        }
        if alarms > 0 {
            self.nodes.insert(NodeId::Alarms, NodeKind::Alarms(alarms));
        }
    }

    /// A resource that belongs to no box gets one, so that no resource is missing.
    fn add_orphans(&mut self, document: &Document) {
        for (logical_id, resource) in document.resources() {
            if !self.has_resource(logical_id) && !self.owners.contains_key(logical_id) {
                let kind = NodeKind::Other(type_name(resource).to_owned());
                self.nodes.insert(NodeId::resource(logical_id), kind);
            }
        }
    }
}

pub(super) fn type_name(resource: &Value) -> &str {
    resource.get("Type").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn property<'a>(resource: &'a Value, name: &str) -> Option<&'a Value> {
    resource.get("Properties")?.get(name)
}
