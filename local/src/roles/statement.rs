//! Statements of policies, ready to be asked.

use std::sync::atomic::{AtomicU64, Ordering};

use cellar_stacks::wildcard::{Case, matches};

use super::ask::Ask;
use super::condition::Condition;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Permits.
    Allow,
    /// Forbids, whatever else permits it.
    Deny,
}

/// One statement of a role.
#[derive(Debug)]
pub(super) struct Statement {
    /// The policy that has it, and its own name.
    pub(super) place: (String, String),
    pub(super) effect: Effect,
    pub(super) actions: Vec<ActionPattern>,
    pub(super) resources: Vec<Resource>,
    pub(super) conditions: Vec<Condition>,
}

/// An action of a statement, and how often it was what counted.
#[derive(Debug)]
pub(super) struct ActionPattern {
    pub(super) pattern: String,
    used: AtomicU64,
}

/// What a statement is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resource {
    /// Everything.
    Any,
    /// An ARN with wildcards, in its parts: none of them stands for a `:` outside of the last.
    Arn([String; ARN_PARTS]),
}

/// `arn`, the partition, the service, the region, the account, and the rest.
const ARN_PARTS: usize = 6;

impl ActionPattern {
    pub(super) const fn new(pattern: String) -> Self {
        Self { pattern, used: AtomicU64::new(0) }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self) {
        self.used.fetch_add(1, Ordering::Relaxed);
    }
}

fn parts(arn: &str) -> Option<[&str; ARN_PARTS]> {
    let parts: Vec<&str> = arn.splitn(ARN_PARTS, ':').collect();
    parts.try_into().ok()
}

impl Resource {
    /// Reads what a statement names; none if it is neither `*` nor an ARN.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let parts = parts(text).filter(|[arn, ..]| *arn == "arn")?;
        Some(Self::Arn(parts.map(str::to_owned)))
    }

    fn is_about(&self, resource: &str) -> bool {
        let Self::Arn(patterns) = self else { return true };
        let named = parts(resource);
        named.is_some_and(|named| {
            patterns
                .iter()
                .zip(named)
                .all(|(pattern, name)| matches(pattern, name, Case::Sensitive))
        })
    }
}

impl Statement {
    /// The action by which it speaks of what is asked; none if it does not.
    pub(super) fn about(&self, ask: &Ask) -> Option<&ActionPattern> {
        let mut actions = self.actions.iter();
        let action = actions.find(|own| matches(&own.pattern, &ask.action, Case::Insensitive))?;
        let is_about = self.resources.iter().any(|own| own.is_about(&ask.resource))
            && self.conditions.iter().all(|condition| condition.holds(ask));
        is_about.then_some(action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_about(pattern: &str, name: &str) -> bool {
        Resource::read(pattern).unwrap().is_about(name)
    }

    #[test]
    fn wildcards_stay_within_a_part_of_an_arn() {
        for (pattern, name) in [
            ("*", "arn:aws:s3:::b"),
            ("*", "*"),
            ("arn:aws:s3:::b/uploads/*", "arn:aws:s3:::b/uploads/a/b:c"),
            ("arn:aws:s3:::b/uploads/*", "arn:aws:s3:::b/uploads/"),
            ("arn:aws:s3:::b/*/c", "arn:aws:s3:::b/a/x/c"),
            ("arn:aws:s3:::b/?", "arn:aws:s3:::b/é"),
            ("arn:*:dynamodb:*:*:table/T", "arn:aws:dynamodb:local:0:table/T"),
            ("arn:aws:logs:r:0:log-group:L:*", "arn:aws:logs:r:0:log-group:L:log-stream:x"),
        ] {
            assert!(is_about(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("arn:aws:s3:::b", "arn:aws:s3:::b/k"),
            ("arn:aws:s3:::b/uploads/*", "arn:aws:s3:::b/uploads"),
            ("arn:aws:s3:::b/uploads/*", "arn:aws:s3:::B/uploads/a"),
            ("arn:aws:s3:::b/uploads/*", "arn:aws:s3:::b2/uploads/a"),
            ("arn:aws:*:table/T", "arn:aws:dynamodb:local:0:table/T"),
            ("arn:aws:dynamodb:*:*:table/T", "arn:aws:dynamodb:local:0:table/T/index/I"),
            ("arn:aws:s3:::*", "*"),
        ] {
            let resource = Resource::read(pattern);
            assert!(resource.is_none_or(|own| !own.is_about(name)), "{pattern} {name}");
        }
        for text in ["", "**", "b", "arn:aws:s3", "urn:aws:s3:::b"] {
            assert_eq!(Resource::read(text), None, "{text}");
        }
    }
}
