//! Parsed policy statements.

use std::sync::atomic::{AtomicU64, Ordering};

use cellar_stacks::wildcard::{Case, matches_wildcards};

use super::access_request::AccessRequest;
use super::condition::Condition;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Allow,
    /// Denies matching requests, even if another statement allows them.
    Deny,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) policy: String,
    /// The statement's `Sid`, or its position in the policy if it has no `Sid`.
    pub(super) sid: String,
    pub(super) effect: Effect,
    pub(super) actions: Vec<ActionPattern>,
    pub(super) resources: Vec<Resource>,
    pub(super) conditions: Vec<Condition>,
}

/// An action pattern in a statement, such as `s3:Get*`, and the number of requests for which it
/// determined the decision.
#[derive(Debug)]
pub(super) struct ActionPattern {
    pub(super) pattern: String,
    use_count: AtomicU64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Any,
    /// An ARN split at its colons. The parts may contain wildcards; only a wildcard in the last
    /// part matches further colons.
    Arn([String; ARN_PARTS]),
}

/// Number of ARN parts: `arn`, partition, service, region, account and resource.
const ARN_PARTS: usize = 6;

impl ActionPattern {
    pub(super) const fn new(pattern: String) -> Self {
        Self { pattern, use_count: AtomicU64::new(0) }
    }

    pub(super) fn use_count(&self) -> u64 {
        self.use_count.load(Ordering::Relaxed)
    }

    pub(super) fn count_use(&self) {
        self.use_count.fetch_add(1, Ordering::Relaxed);
    }
}

fn split_arn(arn: &str) -> Option<[&str; ARN_PARTS]> {
    let parts: Vec<&str> = arn.splitn(ARN_PARTS, ':').collect();
    parts.try_into().ok()
}

impl Resource {
    /// Returns `None` if the string is neither `*` nor an ARN.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        match split_arn(text)? {
            parts @ ["arn", ..] => Some(Self::Arn(parts.map(str::to_owned))),
            _ => None,
        }
    }

    fn matches(&self, resource_arn: &str) -> bool {
        let Self::Arn(pattern_parts) = self else { return true };
        let Some(arn_parts) = split_arn(resource_arn) else { return false };
        pattern_parts
            .iter()
            .zip(arn_parts)
            .all(|(pattern, part)| matches_wildcards(pattern, part, Case::Sensitive))
    }
}

impl Statement {
    /// Returns the first action pattern of this statement that matches the request. Returns `None`
    /// if the statement does not apply to the request.
    pub(super) fn matching_action(&self, request: &AccessRequest) -> Option<&ActionPattern> {
        let matches_request = |action: &&ActionPattern| {
            matches_wildcards(&action.pattern, &request.action, Case::Insensitive)
        };
        let action = self.actions.iter().find(matches_request)?;
        let resource_matches =
            self.resources.iter().any(|resource| resource.matches(&request.resource));
        let conditions_are_met =
            self.conditions.iter().all(|condition| condition.is_met_by(request));
        if resource_matches && conditions_are_met { Some(action) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, name: &str) -> bool {
        Resource::parse(pattern).unwrap().matches(name)
    }

    #[test]
    fn wildcards_match_within_one_part_of_an_arn() {
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
            assert!(is_match(pattern, name), "{pattern} {name}");
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
            let resource = Resource::parse(pattern);
            assert!(resource.is_none_or(|own| !own.matches(name)), "{pattern} {name}");
        }
        for text in ["", "**", "b", "arn:aws:s3", "urn:aws:s3:::b"] {
            assert_eq!(Resource::parse(text), None, "{text}");
        }
    }
}
