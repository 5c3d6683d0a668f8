//! One rule of a template: who may, or may not, do what to what.

use serde::Serialize;

use super::condition::Condition;
use super::pattern::{Case, Name, Names};
use crate::constructs::Effect;

/// Where a permission is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    /// A policy of a role: what whoever has the role may do.
    Role,
    /// The trust policy of a role: who may have it.
    Trust,
    /// A policy of a bucket, a queue or another resource.
    Resource,
    /// A permission to call a function.
    Invocation,
    /// The URL of a function.
    Url,
    /// CORS: pages of which origins.
    Cors,
    /// What a bucket refuses, whatever its policy and its access lists say.
    PublicAccess,
}

/// A rule before it is taken apart into single permissions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// The resource that says so.
    pub(super) holder: String,
    /// The resource that it is said of: a bucket, not its policy. Rules are compared within one.
    pub(super) scope: String,
    pub(super) kind: PermissionKind,
    pub(super) effect: Effect,
    pub(super) principals: Names,
    pub(super) actions: Names,
    pub(super) resources: Names,
    pub(super) condition: Condition,
}

/// A single permission of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single<'a> {
    pub(super) rule: &'a Rule,
    pub(super) principal: Name<'a>,
    pub(super) action: Name<'a>,
    pub(super) resource: Name<'a>,
}

impl Rule {
    /// How many single permissions it stands for.
    pub(super) fn count(&self) -> usize {
        let counts = [&self.principals, &self.actions, &self.resources].map(Names::count);
        counts.into_iter().fold(1, usize::saturating_mul)
    }

    /// All of them.
    pub(super) fn singles(&self) -> impl Iterator<Item = Single<'_>> {
        self.principals.elements().into_iter().flat_map(move |principal| {
            self.actions.elements().into_iter().flat_map(move |action| {
                self.resources.elements().into_iter().map(move |resource| Single {
                    rule: self,
                    principal,
                    action,
                    resource,
                })
            })
        })
    }

    /// Its actions, if none of them stands for others.
    pub(super) fn plain_actions(&self) -> Option<&[String]> {
        match &self.actions {
            Names::Only(names) if !names.iter().any(|name| name.contains(['*', '?'])) => {
                Some(names)
            }
            Names::Only(_) | Names::AllBut(_) => None,
        }
    }

    /// Whether it says of the same things the same kind of thing.
    fn is_beside(&self, other: &Self) -> bool {
        self.kind == other.kind && self.effect == other.effect && self.scope == other.scope
    }

    /// Whether it says all that the single permission of another says.
    pub(super) fn covers(&self, single: Single<'_>) -> bool {
        self.is_beside(single.rule)
            && self.principals.cover(single.principal, Case::Counts)
            && self.actions.cover(single.action, Case::Ignored)
            && self.resources.cover(single.resource, Case::Counts)
            && self.condition.admits_all_of(&single.rule.condition)
    }
}
