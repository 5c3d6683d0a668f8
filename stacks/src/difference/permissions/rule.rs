//! A template's permission rules. Each rule states which principals may or may not perform which
//! actions on which resources.

use serde::Serialize;

use super::condition::Condition;
use super::pattern::{Case, Name, Names};
use crate::constructs::Effect;

/// Kind of setting that defines a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    /// Policy of a role.
    Role,
    /// Trust policy of a role. It lists the principals that may assume the role.
    Trust,
    /// Resource-based policy, for example a bucket's or a queue's policy.
    Resource,
    /// Permission to invoke a function.
    Invocation,
    /// URL of a function.
    Url,
    /// CORS settings for web pages from other origins.
    Cors,
    /// A bucket's public access settings, which override the bucket's policy and access control
    /// lists.
    PublicAccess,
}

/// A rule for all combinations of its principals, actions and resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// Logical id of the resource that defines the rule.
    pub(super) defined_by: String,
    /// Resource to which the rule applies, such as the bucket of a bucket policy. Only rules that
    /// apply to the same resource can cover each other.
    pub(super) scope: String,
    pub(super) kind: PermissionKind,
    pub(super) effect: Effect,
    pub(super) principals: Names,
    pub(super) actions: Names,
    pub(super) resources: Names,
    pub(super) condition: Condition,
}

/// An individual permission, which is one combination of a rule's principals, actions and
/// resources.
#[derive(Clone, Copy, Debug)]
pub(super) struct SinglePermission<'a> {
    pub(super) rule: &'a Rule,
    pub(super) principal: Name<'a>,
    pub(super) action: Name<'a>,
    pub(super) resource: Name<'a>,
}

impl Rule {
    /// Returns the number of individual permissions.
    pub(super) fn permission_count(&self) -> usize {
        let counts = [&self.principals, &self.actions, &self.resources].map(Names::count);
        counts.into_iter().fold(1, usize::saturating_mul)
    }

    /// Returns all combinations of principal, action and resource.
    pub(super) fn single_permissions(&self) -> impl Iterator<Item = SinglePermission<'_>> {
        self.principals.elements().into_iter().flat_map(move |principal| {
            self.actions.elements().into_iter().flat_map(move |action| {
                self.resources.elements().into_iter().map(move |resource| SinglePermission {
                    rule: self,
                    principal,
                    action,
                    resource,
                })
            })
        })
    }

    /// Returns the actions, or `None` if there are wildcards or excluded names.
    pub(super) fn plain_actions(&self) -> Option<&[String]> {
        match &self.actions {
            Names::Only(names) if !names.iter().any(|name| name.contains(['*', '?'])) => {
                Some(names)
            }
            Names::Only(_) | Names::AllBut(_) => None,
        }
    }

    /// Returns whether both rules have the same kind, effect and scope.
    fn is_comparable_to(&self, other: &Self) -> bool {
        self.kind == other.kind && self.effect == other.effect && self.scope == other.scope
    }

    /// Returns whether this rule covers everything that `permission` allows or denies.
    pub(super) fn covers(&self, permission: SinglePermission<'_>) -> bool {
        self.is_comparable_to(permission.rule)
            && self.principals.cover(permission.principal, Case::Sensitive)
            && self.actions.cover(permission.action, Case::Insensitive)
            && self.resources.cover(permission.resource, Case::Sensitive)
            && self.condition.permits_all_of(&permission.rule.condition)
    }
}
