//! Compares the permissions of two templates.
//!
//! Each rule is split into individual permissions, each for one principal, one action and one
//! resource. A permission is broadened if the new template allows it and no single rule of the old
//! template covers it. A permission is also broadened if the old template denies it and no single
//! rule of the new template covers it.
//!
//! All broadened permissions are found. There may be false positives, because the comparison does
//! not detect that two rules together cover a permission.

mod condition;
mod grant;
mod pattern;
mod policies;
mod reach;
mod rule;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::document::{Document, is_retained, removal_policy};
use super::limits::PERMISSIONS_MAX;
use crate::constructs::Effect;
use rule::{Rule, SinglePermission};

pub use grant::Grant;
pub use rule::PermissionKind;

/// Broadened and narrowed permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PermissionChanges {
    /// Permissions that are newly allowed or no longer denied.
    pub broadened: Vec<Grant>,
    /// Permissions that are no longer allowed or newly denied.
    pub narrowed: Vec<Grant>,
}

impl PermissionChanges {
    /// Returns whether no permissions change.
    pub fn is_empty(&self) -> bool {
        self.broadened.is_empty() && self.narrowed.is_empty()
    }

    /// Returns whether a permission that the resource defines is broadened.
    pub fn are_broadened_by(&self, logical_id: &str) -> bool {
        self.broadened.iter().any(|grant| grant.logical_id == logical_id)
    }
}

/// Compares the permissions of two templates.
///
/// # Errors
/// [`TooManyPermissions`] if a template contains more than [`PERMISSIONS_MAX`] individual
/// permissions.
pub(super) fn compare_permissions(
    old: &Document,
    new: &Document,
) -> Result<PermissionChanges, TooManyPermissions> {
    let (old_rules, new_rules) = (read_rules(old)?, read_rules(new)?);
    let old_set = RuleSet::new(old, &old_rules);
    let new_set = RuleSet::new(new, &new_rules);
    let newly_allowed = new_set.permissions_beyond(&old_set, Effect::Allow);
    let no_longer_denied = old_set
        .permissions_beyond(&new_set, Effect::Deny)
        .filter(|permission| !new_set.has_lost_resource(&permission.rule.scope, &old_set));
    // If a resource is removed from the stack but retained in the account, it still allows what it
    // allowed before. What it denied may no longer be denied.
    let no_longer_allowed = old_set
        .permissions_beyond(&new_set, Effect::Allow)
        .filter(|permission| !old_set.is_abandoned_by(&new_set, &permission.rule.defined_by));
    let newly_denied = new_set
        .permissions_beyond(&old_set, Effect::Deny)
        .filter(|permission| !old_set.has_lost_resource(&permission.rule.scope, &new_set));
    Ok(PermissionChanges {
        broadened: grant::group_permissions(newly_allowed.chain(no_longer_denied)),
        narrowed: grant::group_permissions(no_longer_allowed.chain(newly_denied)),
    })
}

/// The rules of a template.
struct RuleSet<'a> {
    document: &'a Document,
    rules: BTreeSet<&'a Rule>,
    /// Rules whose actions have no wildcards, by lowercase action.
    rules_by_action: BTreeMap<String, Vec<&'a Rule>>,
    /// Rules whose actions have wildcards or exclusions.
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

    /// Returns the individual permissions with this effect that no rule of `other` covers.
    fn permissions_beyond<'b>(
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

    /// Returns whether a resource is removed from the stack by `new` but retained in the account.
    fn is_abandoned_by(&self, new: &Self, logical_id: &str) -> bool {
        let Some(resource) = self.document.resources.get(logical_id) else { return false };
        is_retained(removal_policy(resource, "DeletionPolicy"))
            && !new.document.resources.contains_key(logical_id)
    }

    /// Returns whether a resource of `other` no longer exists: it is not in this template and is
    /// not retained in the account. A resource that no longer exists needs no rules.
    fn has_lost_resource(&self, logical_id: &str, other: &Self) -> bool {
        if self.document.resources.contains_key(logical_id) {
            return false;
        }
        let Some(resource) = other.document.resources.get(logical_id) else { return false };
        !is_retained(removal_policy(resource, "DeletionPolicy"))
    }
}

/// A template contains too many individual permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TooManyPermissions {
    /// Logical id of the resource that exceeded the limit.
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
