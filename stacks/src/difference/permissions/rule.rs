//! The permission rules of a template. A rule states which principals may or may not perform which
//! actions on which resources.

use serde::Serialize;

use super::condition::Condition;
use super::pattern::{Case, Name, Names};
use crate::constructs::Effect;

/// The kind of setting that defines a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    Role,
    /// The trust policy of a role, which lists the principals that may assume the role.
    Trust,
    /// A resource-based policy, such as the policy of a bucket or a queue.
    Resource,
    Invocation,
    Url,
    /// The CORS settings that apply to web pages from other origins.
    Cors,
    /// The public access settings of a bucket, which override its policy and its access control
    /// lists.
    PublicAccess,
}

/// A rule that allows or denies every combination of its principals, actions and resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// The logical id of the resource that defines the rule.
    pub(super) defined_by: String,
    /// The resource to which the rule applies, such as the bucket of a bucket policy. A rule can
    /// cover another rule only if both apply to the same resource.
    pub(super) scope: String,
    pub(super) kind: PermissionKind,
    pub(super) effect: Effect,
    pub(super) principals: Names,
    pub(super) actions: Names,
    pub(super) resources: Names,
    pub(super) condition: Condition,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SinglePermission<'a> {
    pub(super) rule: &'a Rule,
    pub(super) principal: Name<'a>,
    pub(super) action: Name<'a>,
    pub(super) resource: Name<'a>,
}

impl Rule {
    pub(super) fn permission_count(&self) -> usize {
        let counts = [&self.principals, &self.actions, &self.resources].map(Names::count);
        counts.into_iter().fold(1, usize::saturating_mul)
    }

    pub(super) fn single_permissions(&self) -> Vec<SinglePermission<'_>> {
        let mut permissions = Vec::new();
        for principal in self.principals.elements() {
            for action in self.actions.elements() {
                for resource in self.resources.elements() {
                    permissions.push(SinglePermission { rule: self, principal, action, resource });
                }
            }
        }
        permissions
    }

    /// Returns the rule's actions, or `None` if they contain wildcards or exclude names.
    pub(super) fn plain_actions(&self) -> Option<&[String]> {
        match &self.actions {
            Names::Only(names) if !names.iter().any(|name| name.contains(['*', '?'])) => {
                Some(names)
            }
            Names::Only(_) | Names::AllBut(_) => None,
        }
    }

    fn is_comparable_to(&self, other: &Self) -> bool {
        self.kind == other.kind && self.effect == other.effect && self.scope == other.scope
    }

    pub(super) fn covers(&self, permission: SinglePermission<'_>) -> bool {
        self.is_comparable_to(permission.rule)
            && self.principals.cover(permission.principal, Case::Sensitive)
            && self.actions.cover(permission.action, Case::Insensitive)
            && self.resources.cover(permission.resource, Case::Sensitive)
            && self.condition.permits_all_of(&permission.rule.condition)
    }
}
