//! Boxes of a picture.

use crate::constructs::ResourceType;

/// Identifies a box.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodeId {
    /// The logical id of a resource.
    Resource(String),
    /// All alarms.
    Alarms,
    /// Something outside of the stack, such as the host of a webhook.
    Outside(String),
}

impl NodeId {
    pub(super) fn resource(logical_id: &str) -> Self {
        Self::Resource(logical_id.to_owned())
    }
}

/// Decides the shape and the group of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    FunctionUrl,
    Function,
    Table,
    Bucket,
    Queue,
    Topic,
    /// The number of alarms.
    Alarms(usize),
    Dashboard,
    Outside,
    /// A resource of another type, whose name is shown.
    Other(String),
}

/// Groups of boxes that do not take part in the flow of data. Other boxes have no group, because
/// Mermaid would place them by their group instead of by their arrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Operation,
    Other,
}

impl Group {
    pub(super) const ALL: [Self; 2] = [Self::Operation, Self::Other];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Operation => "Operation",
            Self::Other => "Other resources",
        }
    }

    /// Returns the name of the group in Mermaid. No box has this name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Operation => "groupOperation",
            Self::Other => "groupOther",
        }
    }
}

impl NodeKind {
    /// Returns `None` for a type whose resources belong to the box of another resource.
    pub(super) fn of_type(type_name: &str) -> Option<Self> {
        match ResourceType::from_name(type_name) {
            Some(ResourceType::FunctionUrl) => Some(Self::FunctionUrl),
            Some(ResourceType::Function) => Some(Self::Function),
            Some(ResourceType::Table) => Some(Self::Table),
            Some(ResourceType::Bucket) => Some(Self::Bucket),
            Some(ResourceType::Queue) => Some(Self::Queue),
            Some(ResourceType::Topic) => Some(Self::Topic),
            Some(ResourceType::Dashboard) => Some(Self::Dashboard),
            Some(
                ResourceType::Alarm
                | ResourceType::Role
                | ResourceType::EventSourceMapping
                | ResourceType::Permission
                | ResourceType::LogGroup
                | ResourceType::BucketPolicy
                | ResourceType::QueuePolicy,
            ) => None,
            None => Some(Self::Other(type_name.to_owned())),
        }
    }

    pub(super) const fn group(&self) -> Option<Group> {
        match self {
            Self::FunctionUrl
            | Self::Function
            | Self::Table
            | Self::Bucket
            | Self::Queue
            | Self::Outside => None,
            Self::Topic | Self::Alarms(_) | Self::Dashboard => Some(Group::Operation),
            Self::Other(_) => Some(Group::Other),
        }
    }

    /// Returns the brackets that give a box its shape in Mermaid.
    pub(super) const fn brackets(&self) -> (&'static str, &'static str) {
        match self {
            Self::FunctionUrl => ("{{", "}}"),
            Self::Table => ("[(", ")]"),
            Self::Bucket => ("[\\", "/]"),
            Self::Queue => ("[[", "]]"),
            Self::Topic => (">", "]"),
            Self::Alarms(_) | Self::Outside => ("([", "])"),
            Self::Function | Self::Dashboard | Self::Other(_) => ("[", "]"),
        }
    }
}
