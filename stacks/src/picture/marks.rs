//! Marks the changes of a stack in its picture.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{NodeId, NodeKind};
use super::scene::Scene;
use super::verb::Verb;
use crate::difference::{ChangeAction, ResourceChange};

/// The change of a box, of a part of it, or of an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Added,
    Changed,
    /// The resource may be replaced.
    MayBeReplaced,
    Replaced,
    /// The resource is removed from the stack, but not deleted.
    Removed,
    Deleted,
}

impl Mark {
    pub(super) const ALL: [Self; 6] = [
        Self::Added,
        Self::Changed,
        Self::MayBeReplaced,
        Self::Replaced,
        Self::Removed,
        Self::Deleted,
    ];

    /// Returns whether only one of the two stacks contains what has this mark.
    pub(super) const fn exists_on_one_side(self) -> bool {
        matches!(self, Self::Added | Self::Removed | Self::Deleted)
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::MayBeReplaced => "may be replaced",
            Self::Replaced => "replaced",
            Self::Removed => "removed but kept",
            Self::Deleted => "deleted",
        }
    }
}

impl From<ChangeAction> for Mark {
    fn from(action: ChangeAction) -> Self {
        match action {
            ChangeAction::Add => Self::Added,
            ChangeAction::Update => Self::Changed,
            ChangeAction::MayReplace => Self::MayBeReplaced,
            ChangeAction::Replace => Self::Replaced,
            ChangeAction::Abandon => Self::Removed,
            ChangeAction::Remove => Self::Deleted,
        }
    }
}

pub(super) struct MarkedNode {
    pub(super) kind: NodeKind,
    pub(super) mark: Option<Mark>,
    /// The changed resources that belong to this box, by logical id.
    pub(super) parts: BTreeMap<String, Mark>,
}

pub(super) struct MarkedArrow {
    pub(super) verbs: BTreeSet<Verb>,
    pub(super) mark: Option<Mark>,
}

pub(super) struct MarkedScene {
    pub(super) nodes: BTreeMap<NodeId, MarkedNode>,
    pub(super) arrows: BTreeMap<(NodeId, NodeId), MarkedArrow>,
}

impl MarkedScene {
    pub(super) fn unmarked(scene: Scene) -> Self {
        let nodes = scene.nodes.into_iter().map(|(id, kind)| (id, MarkedNode::unmarked(kind)));
        let arrows =
            scene.arrows.into_iter().map(|(ends, verbs)| (ends, MarkedArrow { verbs, mark: None }));
        Self { nodes: nodes.collect(), arrows: arrows.collect() }
    }

    pub(super) fn of_changes(old: &Scene, new: &Scene, changes: &[ResourceChange]) -> Self {
        let mut marked = Self { nodes: BTreeMap::new(), arrows: marked_arrows(old, new) };
        for (node_id, kind) in old.nodes.iter().chain(&new.nodes) {
            marked.nodes.insert(node_id.clone(), MarkedNode::unmarked(kind.clone()));
        }
        for change in changes {
            let mark = Mark::from(change.action);
            let node_id = NodeId::resource(&change.logical_id);
            if let Some(node) = marked.nodes.get_mut(&node_id) {
                node.mark = Some(mark);
            }
            for scene in [old, new] {
                for owner in scene.owners.get(&change.logical_id).into_iter().flatten() {
                    if let Some(node) = marked.nodes.get_mut(owner) {
                        node.parts.insert(change.logical_id.clone(), mark);
                    }
                }
            }
        }
        marked.mark_boxes_without_resource(old, new);
        marked
    }

    /// The boxes of alarms and of receivers outside of the stack belong to no single resource.
    fn mark_boxes_without_resource(&mut self, old: &Scene, new: &Scene) {
        for (node_id, node) in &mut self.nodes {
            if !matches!(node_id, NodeId::Resource(_)) {
                node.mark = match (old.nodes.contains_key(node_id), new.nodes.contains_key(node_id))
                {
                    (true, false) => Some(Mark::Deleted),
                    (false, true) => Some(Mark::Added),
                    _ => None,
                };
            }
            // A new function has a new role, which needs no word of its own.
            if let Some(mark) = node.mark.filter(|mark| mark.exists_on_one_side()) {
                node.parts.retain(|_, part_mark| *part_mark != mark);
            }
        }
    }
}

impl MarkedNode {
    const fn unmarked(kind: NodeKind) -> Self {
        Self { kind, mark: None, parts: BTreeMap::new() }
    }

    /// Returns the mark that decides the colour: a box with a changed part is changed.
    pub(super) fn colour(&self) -> Option<Mark> {
        self.mark.or_else(|| (!self.parts.is_empty()).then_some(Mark::Changed))
    }
}

fn marked_arrows(old: &Scene, new: &Scene) -> BTreeMap<(NodeId, NodeId), MarkedArrow> {
    let mut arrows = BTreeMap::new();
    for (ends, verbs) in &new.arrows {
        let mark = match old.arrows.get(ends) {
            None => Some(Mark::Added),
            Some(old_verbs) if old_verbs != verbs => Some(Mark::Changed),
            Some(_) => None,
        };
        arrows.insert(ends.clone(), MarkedArrow { verbs: verbs.clone(), mark });
    }
    for (ends, verbs) in &old.arrows {
        arrows
            .entry(ends.clone())
            .or_insert_with(|| MarkedArrow { verbs: verbs.clone(), mark: Some(Mark::Deleted) });
    }
    arrows
}
