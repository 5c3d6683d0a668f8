//! Errors in a stack. Each error names the faulty part of the template.

use std::fmt;

use thiserror::Error;

use crate::expression::{IntrinsicError, NESTING_MAX, SubstitutionError};
use crate::suggest::suggestion_hint;
use crate::template::limits::{
    DESCRIPTION_BYTES_MAX, LOGICAL_ID_CHARS_MAX, MIN_VISIBILITY_PER_TIMEOUT, TEMPLATE_BYTES_MAX,
};

/// The faulty part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplatePart {
    pub logical_id: String,
    /// The CloudFormation resource type, `parameter`, or `output`.
    pub kind: String,
}

impl TemplatePart {
    const OUTPUT: &'static str = "output";

    pub fn new(logical_id: &str, kind: &str) -> Self {
        Self { logical_id: logical_id.to_owned(), kind: kind.to_owned() }
    }

    pub(super) fn output(name: &str) -> Self {
        Self::new(name, Self::OUTPUT)
    }
}

impl fmt::Display for TemplatePart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` ({})", self.logical_id, self.kind)
    }
}

/// A fault of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SynthesisError {
    #[error(
        "{template_part}: invalid logical id; use 1 to {LOGICAL_ID_CHARS_MAX} letters and digits"
    )]
    InvalidLogicalId { template_part: TemplatePart },
    #[error(
        "{template_part}: the logical id is already used by a part of type {taken_by}; use another one"
    )]
    DuplicateLogicalId {
        template_part: TemplatePart,
        /// The type of the template part that already has the logical id.
        taken_by: String,
    },
    #[error("{template_part}: {path} refers to `{target}`, which does not exist in the stack{}", suggestion_hint(suggestion.as_deref()))]
    UnknownReference {
        template_part: TemplatePart,
        path: String,
        target: String,
        /// The existing name that is most similar to the target, or `None` if none is similar
        /// enough.
        suggestion: Option<String>,
    },
    #[error(
        "{template_part}: {path} refers to `{attribute}` of {target}, which does not exist; {}",
        describe_available_attributes(available)
    )]
    UnknownAttribute {
        template_part: TemplatePart,
        path: String,
        target: Box<TemplatePart>,
        attribute: String,
        available: &'static [&'static str],
    },
    /// `Fn::GetAtt` refers to an attribute that does not exist because a property of the target is
    /// not set.
    #[error(
        "{template_part}: {path} refers to `{attribute}` of {target}, which requires the property `{property}`; set that property"
    )]
    MissingProperty {
        template_part: TemplatePart,
        path: String,
        target: Box<TemplatePart>,
        attribute: String,
        property: &'static str,
    },
    #[error("{template_part}: {path}: {fault}")]
    Intrinsic { template_part: TemplatePart, path: String, fault: IntrinsicError },
    #[error("{template_part}: {path}: {fault}")]
    Substitution { template_part: TemplatePart, path: String, fault: SubstitutionError },
    #[error(
        "{template_part}: {path} is nested more than {NESTING_MAX} levels deep; reduce the nesting"
    )]
    TooDeep { template_part: TemplatePart, path: String },
    #[error(
        "{template_part}: the key `{attribute}` has no attribute definition; add `.attribute(\"{attribute}\", …)`"
    )]
    UndefinedKey { template_part: TemplatePart, attribute: String },
    #[error(
        "{template_part}: the attribute `{attribute}` is defined but no key uses it, which DynamoDB rejects; remove the definition"
    )]
    UnusedAttribute { template_part: TemplatePart, attribute: String },
    #[error(
        "{template_part}: statement `{statement}` allows the wildcard `{pattern}`; list each action and each resource instead"
    )]
    WildcardPermission { template_part: TemplatePart, statement: String, pattern: String },
    #[error(
        "{template_part}: statement `{statement}` has the effect Allow, but a resource policy may only deny; allow it in a role instead"
    )]
    AllowingPolicy { template_part: TemplatePart, statement: String },
    #[error(
        "{template_part}: the visibility timeout is {visibility_s} s, but `{function}` has a timeout of {timeout_s} s; set `VisibilityTimeout` to {} or more",
        timeout_s.saturating_mul(MIN_VISIBILITY_PER_TIMEOUT)
    )]
    VisibilityTooShort {
        template_part: TemplatePart,
        visibility_s: u64,
        /// The logical id of the function that reads from the queue.
        function: String,
        timeout_s: u64,
    },
    #[error("{template_part}: dependency cycle: {}; remove one of these references", path.join(" -> "))]
    DependencyCycle {
        template_part: TemplatePart,
        /// The logical ids of the resources in the cycle, in order. The last id repeats the first.
        path: Vec<String>,
    },
    #[error(
        "the stack has {count} {section}, but CloudFormation accepts at most {limit}; the first entry beyond the limit is `{first_beyond}`"
    )]
    TooMany {
        /// The name of the section: `resources`, `parameters` or `outputs`.
        section: &'static str,
        count: usize,
        limit: usize,
        /// The first entry beyond the limit if the entries are sorted by name.
        first_beyond: String,
    },
    #[error(
        "the template is {bytes} bytes long, but CloudFormation accepts at most {TEMPLATE_BYTES_MAX}; the largest resource is `{largest}`"
    )]
    TemplateTooLarge {
        bytes: usize,
        /// Logical id of the largest resource.
        largest: String,
    },
    #[error(
        "the description of the stack is {bytes} bytes long, but CloudFormation accepts at most {DESCRIPTION_BYTES_MAX}; shorten it"
    )]
    DescriptionTooLong { bytes: usize },
}

fn describe_available_attributes(available: &[&str]) -> String {
    if available.is_empty() {
        "this type has no attributes".to_owned()
    } else {
        format!("use one of {}", available.join(", "))
    }
}

/// All faults of a stack, in a fixed order. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthesisErrors(pub Vec<SynthesisError>);

impl From<SynthesisError> for SynthesisErrors {
    fn from(error: SynthesisError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for SynthesisErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            error.fmt(formatter)?;
        }
        Ok(())
    }
}

impl std::error::Error for SynthesisErrors {}
