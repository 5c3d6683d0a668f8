//! Groups individual permissions into grants, which are easier to read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rule::{PermissionKind, Rule, SinglePermission};
use crate::constructs::Effect;

/// A group of permissions that are defined by the same resource and have the same kind, effect and
/// condition. The group contains every combination of its principals, actions and resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Grant {
    /// The logical id of the resource that defines the permissions.
    pub logical_id: String,
    pub kind: PermissionKind,
    pub effect: Effect,
    /// Principals. `*` stands for everyone.
    pub principals: Vec<String>,
    pub actions: Vec<String>,
    /// Resources to which the actions apply.
    pub resources: Vec<String>,
    /// The condition of all permissions in the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GrantKey {
    logical_id: String,
    kind: PermissionKind,
    effect: Effect,
    condition: Option<String>,
}

type Principal = String;
type Resource = String;
type Names = BTreeSet<String>;

/// The actions on the same resource are merged first, then the resources with the same actions, and
/// finally the principals with the same actions and resources.
pub(super) fn group_permissions<'a>(
    permissions: impl IntoIterator<Item = SinglePermission<'a>>,
) -> Vec<Grant> {
    let mut actions_by_access: BTreeMap<(GrantKey, Principal, Resource), Names> = BTreeMap::new();
    for permission in permissions {
        let principal = permission.principal.text();
        let resource = permission.resource.text();
        let access = (grant_key(permission.rule), principal, resource);
        actions_by_access.entry(access).or_default().insert(permission.action.text());
    }
    let mut resources_by_actions: BTreeMap<(GrantKey, Principal, Names), Names> = BTreeMap::new();
    for ((grant_key, principal, resource), actions) in actions_by_access {
        resources_by_actions.entry((grant_key, principal, actions)).or_default().insert(resource);
    }
    let mut principals_by_access: BTreeMap<(GrantKey, Names, Names), Names> = BTreeMap::new();
    for ((grant_key, principal, actions), resources) in resources_by_actions {
        principals_by_access.entry((grant_key, actions, resources)).or_default().insert(principal);
    }
    let mut grants = Vec::new();
    for ((grant_key, actions, resources), principals) in principals_by_access {
        grants.push(Grant {
            logical_id: grant_key.logical_id,
            kind: grant_key.kind,
            effect: grant_key.effect,
            principals: principals.into_iter().collect(),
            actions: actions.into_iter().collect(),
            resources: resources.into_iter().collect(),
            condition: grant_key.condition,
        });
    }
    grants
}

fn grant_key(rule: &Rule) -> GrantKey {
    let condition = if rule.condition.is_empty() { None } else { Some(rule.condition.to_string()) };
    GrantKey {
        logical_id: rule.defined_by.clone(),
        kind: rule.kind,
        effect: rule.effect,
        condition,
    }
}
