//! The roles of the template's functions: who signs a request, and whether it may do that.
//!
//! Each function has a key of its own and may do what the inline policies of its role permit, as in AWS.
//! The key of the state folder is the operator's and may do everything. Policies of buckets and queues
//! are not judged: those of the template only ask for TLS, which nothing here has.

mod ask;
mod condition;
mod expression;
mod function;
mod keys;
pub(crate) mod messages;
pub(crate) mod objects;
mod read;
mod role;
mod sources;
mod statement;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use axum::http::HeaderMap;
use cellar_stacks::template::Template;

pub(crate) use self::ask::Ask;
pub(crate) use self::keys::Caller;
pub(crate) use self::sources::queue_of;

use self::function::Function;
use self::keys::Keys;
use self::role::{Role, Verdict};
use self::statement::Effect;
use crate::error::LocalError;
use crate::names::Names;
use crate::state::Credentials;

/// Refusals that are kept, the newest.
const MAX_DENIALS: usize = 100;

/// What a request asks for, by its headers and its body; an error says why it cannot be read.
pub(crate) type Asks = fn(&HeaderMap, &[u8]) -> Result<Vec<Ask>, String>;

/// Why somebody may not do something: in the words of AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denied(pub(crate) String);

/// One action that a statement of a role permits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// Logical id of the role.
    pub role: String,
    /// Name of the inline policy.
    pub policy: String,
    /// Name of the statement (`Sid`).
    pub statement: String,
    /// The action as the statement names it.
    pub action: String,
    /// How often it was what permitted something since the start.
    pub used: u64,
}

/// What the functions of a template may do, and what of it they did.
#[derive(Debug)]
pub struct Roles {
    functions: Vec<Function>,
    keys: Keys,
    denials: Mutex<VecDeque<String>>,
}

impl Roles {
    /// Reads the roles of all functions, and makes a key for each.
    pub(crate) fn open(
        template: &Template,
        names: &Names<'_>,
        operator: &Credentials,
    ) -> Result<Self, LocalError> {
        let functions = function::all(template, names)?;
        let keys = Keys::new(operator, functions.len());
        Ok(Self { functions, keys, denials: Mutex::default() })
    }

    /// Everything that the roles permit, with how often it was needed.
    #[must_use]
    pub fn permissions(&self) -> Vec<Permission> {
        // Functions may share a role.
        let roles: BTreeMap<&str, &Role> =
            self.functions.iter().map(|one| (one.role.logical_id.as_str(), &*one.role)).collect();
        let mut all = Vec::new();
        for (id, role) in roles {
            let allowing = role.statements.iter().filter(|one| one.effect == Effect::Allow);
            for statement in allowing {
                let (policy, name) = &statement.place;
                all.extend(statement.actions.iter().map(|action| Permission {
                    role: id.to_owned(),
                    policy: policy.clone(),
                    statement: name.clone(),
                    action: action.pattern.clone(),
                    used: action.used(),
                }));
            }
        }
        all.sort();
        all
    }

    /// What was refused to functions since the start, in the words of AWS; of many, the newest.
    #[must_use]
    pub fn denials(&self) -> Vec<String> {
        let denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        denials.iter().cloned().collect()
    }

    /// What signs the requests of a function.
    pub(crate) fn credentials_of(&self, function: &str) -> Result<&Credentials, LocalError> {
        let own = self.keys.of(self.caller_of(function)?);
        own.ok_or_else(|| no_function(function))
    }

    /// A function as a caller.
    pub(crate) fn caller_of(&self, function: &str) -> Result<Caller, LocalError> {
        let index = self.functions.iter().position(|one| one.logical_id == function);
        index.map(Caller::Function).ok_or_else(|| no_function(function))
    }

    /// Whose access key it is, with the secret.
    pub(crate) fn signer(&self, access_key: &str) -> Option<(Caller, &Credentials)> {
        self.keys.signer(access_key)
    }

    /// All keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Credentials> {
        self.keys.all()
    }

    /// Whether somebody may do something.
    pub(crate) fn check(&self, caller: Caller, ask: &Ask) -> Result<(), Denied> {
        let Caller::Function(index) = caller else { return Ok(()) };
        let function = self.functions.get(index);
        let verdict = function.map_or(Verdict::NotAllowed, |function| function.role.judge(ask));
        let Ask { action, resource, .. } = ask;
        let why = match verdict {
            Verdict::Allowed => return Ok(()),
            Verdict::NotAllowed => {
                format!("because no identity-based policy allows the {action} action")
            }
            Verdict::Forbidden => "with an explicit deny in an identity-based policy".to_owned(),
        };
        let user = function.map(|function| function.session_arn.as_str()).unwrap_or_default();
        let message = format!(
            "User: {user} is not authorized to perform: {action} on resource: {resource} {why}"
        );
        tracing::warn!(denied = message, "a function may not do what it tried");
        self.keep(message.clone());
        Err(Denied(message))
    }

    fn keep(&self, message: String) {
        let mut denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        if denials.len() >= MAX_DENIALS {
            denials.pop_front();
        }
        denials.push_back(message);
    }
}

fn no_function(id: &str) -> LocalError {
    let why = "it is no function of this template".to_owned();
    LocalError::Template { logical_id: id.to_owned(), why }
}

#[cfg(test)]
impl Roles {
    /// Only an operator, of these keys.
    pub(crate) fn of_operator((access_key, secret_key): (&str, &str)) -> std::sync::Arc<Self> {
        let (access_key, secret_key) = (access_key.to_owned(), secret_key.to_owned());
        let keys = Keys::new(&Credentials { access_key, secret_key }, 0);
        std::sync::Arc::new(Self { functions: vec![], keys, denials: Mutex::default() })
    }
}
