//! Single permissions, put together again so that people can read them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rule::{PermissionKind, Single};
use crate::constructs::Effect;

/// Permissions that differ only in what is listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Grant {
    /// The resource whose properties say so.
    pub logical_id: String,
    /// Where they stand.
    pub kind: PermissionKind,
    /// Whether they permit or forbid.
    pub effect: Effect,
    /// Who: `*` is everybody.
    pub principals: Vec<String>,
    /// What is done.
    pub actions: Vec<String>,
    /// What it is done to.
    pub resources: Vec<String>,
    /// Under which condition only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// What grants are put together by.
type Place = (String, PermissionKind, Effect, Option<String>);

/// Puts together actions first, then resources, then principals.
pub(super) fn grouped<'a>(singles: impl IntoIterator<Item = Single<'a>>) -> Vec<Grant> {
    let mut by_resource: BTreeMap<(Place, String, String), BTreeSet<String>> = BTreeMap::new();
    for single in singles {
        let rule = single.rule;
        let condition = (!rule.condition.is_empty()).then(|| rule.condition.to_string());
        let place = (rule.holder.clone(), rule.kind, rule.effect, condition);
        let key = (place, single.principal.text(), single.resource.text());
        by_resource.entry(key).or_default().insert(single.action.text());
    }
    let mut by_actions: BTreeMap<(Place, String, BTreeSet<String>), BTreeSet<String>> =
        BTreeMap::new();
    for ((place, principal, resource), actions) in by_resource {
        by_actions.entry((place, principal, actions)).or_default().insert(resource);
    }
    let mut by_both: BTreeMap<(Place, BTreeSet<String>, BTreeSet<String>), BTreeSet<String>> =
        BTreeMap::new();
    for ((place, principal, actions), resources) in by_actions {
        by_both.entry((place, actions, resources)).or_default().insert(principal);
    }
    let list = |set: BTreeSet<String>| set.into_iter().collect();
    by_both
        .into_iter()
        .map(|(((logical_id, kind, effect, condition), actions, resources), principals)| Grant {
            logical_id,
            kind,
            effect,
            principals: list(principals),
            actions: list(actions),
            resources: list(resources),
            condition,
        })
        .collect()
}
