//! Permissions as sets: what one template lets somebody do that another does not.
//!
//! A rule is taken apart into single permissions: one principal, one action, one resource. What the
//! new template permits and no single rule of the old one covers is broadened, and so is what the
//! old one forbade and no rule of the new one covers. In doubt something counts as broadened: two
//! rules that only together cover a third are not seen to.

mod condition;
mod grant;
mod pattern;
mod policies;
mod reach;
mod rule;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::DifferenceError;
use super::document::{Document, keeps, policy};
use super::limits::PERMISSIONS_MAX;
use crate::constructs::Effect;
use rule::{Rule, Single};

pub use grant::Grant;
pub use rule::PermissionKind;

/// What may be done that could not be, and the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PermissionChanges {
    /// Permitted now, or forbidden no longer.
    pub broadened: Vec<Grant>,
    /// Permitted no longer, or forbidden now.
    pub narrowed: Vec<Grant>,
}

impl PermissionChanges {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.broadened.is_empty() && self.narrowed.is_empty()
    }

    /// Whether it is a resource by whose properties something is broadened.
    pub fn are_broadened_by(&self, logical_id: &str) -> bool {
        self.broadened.iter().any(|grant| grant.logical_id == logical_id)
    }
}

/// The changes of permissions from one template to another.
pub(super) fn changes(
    old: &Document,
    new: &Document,
) -> Result<PermissionChanges, DifferenceError> {
    let (before, after) = (rules(old)?, rules(new)?);
    let (was, will) = (Side::new(old, &before), Side::new(new, &after));
    // What is left behind in the account goes on permitting; whether it goes on forbidding nobody
    // knows.
    let left_behind = |single: &Single<'_>| {
        let resource = old.resources.get(&single.rule.holder);
        resource.is_some_and(|it| keeps(policy(it, "DeletionPolicy")))
            && !new.resources.contains_key(&single.rule.holder)
    };
    let permitted = will.beyond(&was, Effect::Allow);
    let unforbidden =
        was.beyond(&will, Effect::Deny).filter(|it| !will.lacks(&it.rule.scope, &was));
    let unpermitted = was.beyond(&will, Effect::Allow).filter(|it| !left_behind(it));
    let forbidden = will.beyond(&was, Effect::Deny).filter(|it| !was.lacks(&it.rule.scope, &will));
    Ok(PermissionChanges {
        broadened: grant::grouped(permitted.chain(unforbidden)),
        narrowed: grant::grouped(unpermitted.chain(forbidden)),
    })
}

/// One of the two templates.
struct Side<'a> {
    document: &'a Document,
    rules: BTreeSet<&'a Rule>,
    /// Rules by the actions that they name outright, in lower case.
    naming: BTreeMap<String, Vec<&'a Rule>>,
    /// Rules with an action that stands for others.
    wild: Vec<&'a Rule>,
}

impl<'a> Side<'a> {
    fn new(document: &'a Document, rules: &'a [Rule]) -> Self {
        let mut naming: BTreeMap<String, Vec<&'a Rule>> = BTreeMap::new();
        let mut wild = Vec::new();
        for rule in rules {
            match rule.plain_actions() {
                Some(actions) => {
                    for action in actions {
                        naming.entry(action.to_ascii_lowercase()).or_default().push(rule);
                    }
                }
                None => wild.push(rule),
            }
        }
        Self { document, rules: rules.iter().collect(), naming, wild }
    }

    /// The single permissions of this side that the other one does not cover.
    fn beyond<'b>(
        &'b self,
        other: &'b Self,
        effect: Effect,
    ) -> impl Iterator<Item = Single<'a>> + use<'a, 'b> {
        let rules = self.rules.iter().copied().filter(move |rule| rule.effect == effect);
        let singles = rules.filter(|rule| !other.rules.contains(rule)).flat_map(Rule::singles);
        singles.filter(|single| !other.covers(*single))
    }

    fn covers(&self, single: Single<'_>) -> bool {
        let naming = self.naming.get(&single.action.text().to_ascii_lowercase());
        let mut rules = naming.into_iter().flatten().chain(&self.wild);
        rules.any(|rule| rule.covers(single))
    }

    /// Whether a resource is gone here that the other side has: there is nothing left to forbid.
    fn lacks(&self, scope: &str, other: &Self) -> bool {
        let kept = |document: &Document| {
            let resource = document.resources.get(scope);
            resource.map(|resource| keeps(policy(resource, "DeletionPolicy")))
        };
        kept(self.document).is_none() && kept(other.document) == Some(false)
    }
}

fn rules(document: &Document) -> Result<Vec<Rule>, DifferenceError> {
    let mut found = Vec::new();
    let mut count = 0_usize;
    for (logical_id, resource) in &document.resources {
        let here = policies::rules(logical_id, resource).into_iter();
        for rule in here.chain(reach::rules(logical_id, resource)) {
            count = count.saturating_add(rule.count());
            found.push(rule);
        }
        if count > PERMISSIONS_MAX {
            let logical_id = logical_id.clone();
            return Err(DifferenceError::TooManyPermissions { logical_id });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
