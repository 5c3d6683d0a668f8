//! Compares the permissions of two templates.
//!
//! A rule is split into individual permissions, each of which has one principal, one action and one
//! resource. A permission is broadened in two cases:
//!
//! - The new template allows it, and no single rule of the old template covers it.
//! - The old template denies it, and no single rule of the new template covers it.
//!
//! The comparison finds all broadened permissions. It can also report permissions that are not
//! broadened, because it does not detect that two rules together cover a permission.

mod condition;
mod grant;
mod pattern;
mod policies;
mod reach;
mod rule;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::document::{Document, is_retained, removal_policy};
use super::limits::PERMISSIONS_MAX;
use crate::constructs::Effect;
use rule::{Rule, SinglePermission};

pub use grant::Grant;
pub use rule::PermissionKind;

/// Broadened and narrowed permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PermissionChanges {
    /// The permissions that are newly allowed or no longer denied.
    pub broadened: Vec<Grant>,
    /// The permissions that are no longer allowed or newly denied.
    pub narrowed: Vec<Grant>,
}

impl PermissionChanges {
    /// Returns whether no permissions change.
    pub fn is_empty(&self) -> bool {
        self.broadened.is_empty() && self.narrowed.is_empty()
    }

    /// Returns whether any broadened permission is defined by this resource.
    pub fn are_broadened_by(&self, logical_id: &str) -> bool {
        self.broadened.iter().any(|grant| grant.logical_id == logical_id)
    }
}

/// Compares the permissions of two templates.
///
/// # Errors
/// Returns [`TooManyPermissions`] if a template contains more than [`PERMISSIONS_MAX`] individual
/// permissions.
pub(super) fn compare_permissions(
    old: &Document,
    new: &Document,
) -> Result<PermissionChanges, TooManyPermissions> {
    let (old_rules, new_rules) = (read_rules(old)?, read_rules(new)?);
    let old_set = RuleSet::new(old, &old_rules);
    let new_set = RuleSet::new(new, &new_rules);
    let newly_allowed = new_set.permissions_not_covered_by(&old_set, Effect::Allow);
    let no_longer_denied = old_set
        .permissions_not_covered_by(&new_set, Effect::Deny)
        .filter(|permission| !new_set.has_deleted_resource(&permission.rule.scope, &old_set));
    // A resource that is removed from the stack but retained in the account still allows everything
    // that it allowed before. It may no longer deny what it denied before.
    let no_longer_allowed = old_set
        .permissions_not_covered_by(&new_set, Effect::Allow)
        .filter(|permission| !new_set.has_retained_resource(&permission.rule.defined_by, &old_set));
    let newly_denied = new_set
        .permissions_not_covered_by(&old_set, Effect::Deny)
        .filter(|permission| !old_set.has_deleted_resource(&permission.rule.scope, &new_set));
    Ok(PermissionChanges {
        broadened: grant::group_permissions(newly_allowed.chain(no_longer_denied)),
        narrowed: grant::group_permissions(no_longer_allowed.chain(newly_denied)),
    })
}

struct RuleSet<'a> {
    document: &'a Document,
    rules: BTreeSet<&'a Rule>,
    /// The rules whose actions have no wildcards. The keys are the lowercase actions.
    rules_by_action: BTreeMap<String, Vec<&'a Rule>>,
    /// The rules whose actions have wildcards, or exclude actions.
    wildcard_rules: Vec<&'a Rule>,
}

impl<'a> RuleSet<'a> {
    fn new(document: &'a Document, rules: &'a [Rule]) -> Self {
        let mut rules_by_action: BTreeMap<String, Vec<&'a Rule>> = BTreeMap::new();
        let mut wildcard_rules = Vec::new();
        for rule in rules {
            match rule.plain_actions() {
                Some(actions) => {
                    for action in actions {
                        rules_by_action.entry(action.to_ascii_lowercase()).or_default().push(rule);
                    }
                }
                None => wildcard_rules.push(rule),
            }
        }
        Self { document, rules: rules.iter().collect(), rules_by_action, wildcard_rules }
    }

    fn permissions_not_covered_by<'b>(
        &'b self,
        other: &'b Self,
        effect: Effect,
    ) -> impl Iterator<Item = SinglePermission<'a>> + use<'a, 'b> {
        let rules_with_effect =
            self.rules.iter().copied().filter(move |rule| rule.effect == effect);
        let changed_rules = rules_with_effect.filter(|rule| !other.rules.contains(rule));
        let permissions = changed_rules.flat_map(Rule::single_permissions);
        permissions.filter(|permission| !other.covers(*permission))
    }

    fn covers(&self, permission: SinglePermission<'_>) -> bool {
        let action = permission.action.text().to_ascii_lowercase();
        let rules_of_action = self.rules_by_action.get(&action).into_iter().flatten();
        rules_of_action.chain(&self.wildcard_rules).any(|rule| rule.covers(permission))
    }

    /// Returns whether this template removes a resource of `other` from the stack, but retains it
    /// in the account.
    fn has_retained_resource(&self, logical_id: &str, other: &Self) -> bool {
        self.removed_resource(logical_id, other).is_some_and(is_retained_when_removed)
    }

    /// Returns whether this template deletes a resource of `other`. A deleted resource needs no
    /// rules.
    fn has_deleted_resource(&self, logical_id: &str, other: &Self) -> bool {
        let removed_resource = self.removed_resource(logical_id, other);
        removed_resource.is_some_and(|resource| !is_retained_when_removed(resource))
    }

    fn removed_resource<'b>(&self, logical_id: &str, other: &'b Self) -> Option<&'b Value> {
        if self.document.resources.contains_key(logical_id) {
            return None;
        }
        other.document.resources.get(logical_id)
    }
}

fn is_retained_when_removed(resource: &Value) -> bool {
    is_retained(removal_policy(resource, "DeletionPolicy"))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TooManyPermissions {
    /// The logical id of the resource whose permissions exceeded the limit.
    pub(super) logical_id: String,
}

fn read_rules(document: &Document) -> Result<Vec<Rule>, TooManyPermissions> {
    let mut rules = Vec::new();
    let mut permission_count = 0_usize;
    for (logical_id, resource) in &document.resources {
        let mut resource_rules = policies::read_policy_rules(logical_id, resource);
        resource_rules.extend(reach::read_access_rules(logical_id, resource));
        for rule in resource_rules {
            permission_count = permission_count.saturating_add(rule.permission_count());
            rules.push(rule);
        }
        if permission_count > PERMISSIONS_MAX {
            return Err(TooManyPermissions { logical_id: logical_id.clone() });
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests;
