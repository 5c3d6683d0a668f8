//! What can be wrong with a stack. Each error names the construct that holds the fault.

use std::fmt;

use thiserror::Error;

use super::limits::{
    DESCRIPTION_BYTES_MAX, LOGICAL_ID_CHARS_MAX, TEMPLATE_BYTES_MAX, VISIBILITY_TIMEOUTS,
};
use crate::expression::{IntrinsicError, NESTING_MAX, SubstitutionError};
use crate::suggest::hint;

/// The part of a template that holds a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its logical id.
    pub logical_id: String,
    /// The resource's type, `parameter` or `output`.
    pub kind: String,
}

impl Holder {
    pub(crate) const PARAMETER: &'static str = "parameter";
    const OUTPUT: &'static str = "output";

    /// A part of a template.
    pub fn new(logical_id: &str, kind: &str) -> Self {
        Self { logical_id: logical_id.to_owned(), kind: kind.to_owned() }
    }

    pub(super) fn output(name: &str) -> Self {
        Self::new(name, Self::OUTPUT)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` ({})", self.logical_id, self.kind)
    }
}

/// One fault of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SynthesisError {
    /// A logical id with other characters than letters and digits, empty or too long.
    #[error("{holder}: a logical id is 1 to {LOGICAL_ID_CHARS_MAX} letters and digits")]
    InvalidLogicalId {
        /// What was to be added.
        holder: Holder,
    },
    /// A logical id that is taken.
    #[error("{holder}: the name is taken ({taken_by}); choose another one")]
    DuplicateLogicalId {
        /// What was to be added.
        holder: Holder,
        /// Kind of the part that has the name.
        taken_by: String,
    },
    /// A reference to what the stack does not have.
    #[error("{holder}: {path} refers to `{target}`, which the stack does not have{}", hint(suggestion.as_deref()))]
    UnknownReference {
        /// Who refers.
        holder: Holder,
        /// Where in it.
        path: String,
        /// The name as written.
        target: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// An attribute that the resource's type does not have.
    #[error(
        "{holder}: {path} asks {target} for `{attribute}`, which it does not have; {}",
        offer(available)
    )]
    UnknownAttribute {
        /// Who asks.
        holder: Holder,
        /// Where in it.
        path: String,
        /// The resource asked.
        target: Box<Holder>,
        /// The attribute as written.
        attribute: String,
        /// The attributes that it has.
        available: &'static [&'static str],
    },
    /// An attribute that exists only with a property that is not set.
    #[error(
        "{holder}: {path} asks {target} for `{attribute}`, which exists only with `{property}`; set it"
    )]
    MissingProperty {
        /// Who asks.
        holder: Holder,
        /// Where in it.
        path: String,
        /// The resource asked.
        target: Box<Holder>,
        /// The attribute.
        attribute: String,
        /// The property that is missing.
        property: &'static str,
    },
    /// An intrinsic function of the wrong form.
    #[error("{holder}: {path}: {fault}")]
    Intrinsic {
        /// What holds it.
        holder: Holder,
        /// Where in it.
        path: String,
        /// What is wrong.
        fault: IntrinsicError,
    },
    /// A text of `Fn::Sub` that cannot be read.
    #[error("{holder}: {path}: {fault}")]
    Substitution {
        /// What holds it.
        holder: Holder,
        /// Where in it.
        path: String,
        /// What is wrong.
        fault: SubstitutionError,
    },
    /// Values nested too deep.
    #[error("{holder}: {path} is nested deeper than {NESTING_MAX} levels; make it flatter")]
    TooDeep {
        /// What holds it.
        holder: Holder,
        /// Where in it.
        path: String,
    },
    /// A key of a table whose attribute is not defined.
    #[error(
        "{holder}: the key `{attribute}` has no definition; add `.attribute(\"{attribute}\", …)`"
    )]
    UndefinedKey {
        /// The table.
        holder: Holder,
        /// The attribute.
        attribute: String,
    },
    /// An attribute of a table that is defined, but no key.
    #[error(
        "{holder}: the attribute `{attribute}` is defined but no key uses it, which DynamoDB refuses; remove the definition"
    )]
    UnusedAttribute {
        /// The table.
        holder: Holder,
        /// The attribute.
        attribute: String,
    },
    /// A permission for more than is named.
    #[error(
        "{holder}: statement `{statement}` allows `{pattern}`; name each action and each resource"
    )]
    WildcardPermission {
        /// The role.
        holder: Holder,
        /// Id of the statement.
        statement: String,
        /// The pattern.
        pattern: String,
    },
    /// A policy of a resource that lets others in.
    #[error("{holder}: statement `{statement}` allows; such policies may only deny, roles allow")]
    AllowingPolicy {
        /// The policy.
        holder: Holder,
        /// Id of the statement.
        statement: String,
    },
    /// A queue that gives a message to a second call of a function while the first may still run.
    #[error(
        "{holder}: a message is hidden for {visibility_s} s, but `{function}` may run for {timeout_s} s; set `VisibilityTimeout` to {} or more",
        timeout_s.saturating_mul(VISIBILITY_TIMEOUTS)
    )]
    VisibilityTooShort {
        /// The queue.
        holder: Holder,
        /// Seconds that a message is hidden.
        visibility_s: u64,
        /// The function that the queue feeds.
        function: String,
        /// Seconds that it may run.
        timeout_s: u64,
    },
    /// Resources that wait for each other.
    #[error("{holder}: it waits for itself: {}; remove one of these references", path.join(" -> "))]
    Circle {
        /// The first of them.
        holder: Holder,
        /// The way round, from the first one back to it.
        path: Vec<String>,
    },
    /// More of something than CloudFormation accepts.
    #[error(
        "the stack has {count} {section}, CloudFormation accepts {limit}; `{first_beyond}` is the first beyond"
    )]
    TooMany {
        /// `resources`, `parameters` or `outputs`.
        section: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
        /// The first one that is too many, in the order of their names.
        first_beyond: String,
    },
    /// A template that CloudFormation does not accept.
    #[error(
        "the template has {bytes} bytes, CloudFormation accepts {TEMPLATE_BYTES_MAX}; `{largest}` is its largest resource"
    )]
    TemplateTooLarge {
        /// Its size.
        bytes: usize,
        /// The resource that takes most of it.
        largest: String,
    },
    /// A description that CloudFormation does not accept.
    #[error(
        "the stack's description has {bytes} bytes, CloudFormation accepts {DESCRIPTION_BYTES_MAX}; shorten it"
    )]
    DescriptionTooLong {
        /// Its size.
        bytes: usize,
    },
}

fn offer(available: &[&str]) -> String {
    if available.is_empty() {
        "it has no attributes".to_owned()
    } else {
        format!("use one of {}", available.join(", "))
    }
}

/// All faults of a stack, in a fixed order. Never empty.
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
