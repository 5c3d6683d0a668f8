//! Groups individual permissions into readable grants.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rule::{PermissionKind, SinglePermission};
use crate::constructs::Effect;

/// Permissions defined by one resource, with the same kind, effect and condition. Every principal
/// has every action on every resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Grant {
    /// Logical id of the resource that defines the permissions.
    pub logical_id: String,
    pub kind: PermissionKind,
    pub effect: Effect,
    /// Principals; `*` means everyone.
    pub principals: Vec<String>,
    pub actions: Vec<String>,
    /// Resources on which the actions are allowed or denied.
    pub resources: Vec<String>,
    /// Condition shared by all of the permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// Fields shared by all permissions of a grant: logical id, kind, effect and condition.
type GrantKey = (String, PermissionKind, Effect, Option<String>);

type Names = BTreeSet<String>;

/// Groups permissions into grants in three steps: first merges actions on the same resource, then
/// resources with the same actions, and finally principals with the same actions and resources.
pub(super) fn group_permissions<'a>(
    permissions: impl IntoIterator<Item = SinglePermission<'a>>,
) -> Vec<Grant> {
    let mut actions_by_resource: BTreeMap<(GrantKey, String, String), Names> = BTreeMap::new();
    for permission in permissions {
        let rule = permission.rule;
        let condition =
            if rule.condition.is_empty() { None } else { Some(rule.condition.to_string()) };
        let grant_key = (rule.defined_by.clone(), rule.kind, rule.effect, condition);
        let key = (grant_key, permission.principal.text(), permission.resource.text());
        actions_by_resource.entry(key).or_default().insert(permission.action.text());
    }
    let mut resources_by_actions: BTreeMap<(GrantKey, String, Names), Names> = BTreeMap::new();
    for ((grant_key, principal, resource), actions) in actions_by_resource {
        resources_by_actions.entry((grant_key, principal, actions)).or_default().insert(resource);
    }
    let mut principals_by_access: BTreeMap<(GrantKey, Names, Names), Names> = BTreeMap::new();
    for ((grant_key, principal, actions), resources) in resources_by_actions {
        principals_by_access.entry((grant_key, actions, resources)).or_default().insert(principal);
    }
    let to_list = |names: Names| names.into_iter().collect();
    let grants =
        principals_by_access.into_iter().map(|((grant_key, actions, resources), names)| {
            let (logical_id, kind, effect, condition) = grant_key;
            Grant {
                logical_id,
                kind,
                effect,
                principals: to_list(names),
                actions: to_list(actions),
                resources: to_list(resources),
                condition,
            }
        });
    grants.collect()
}
