//! Authorizes requests according to the roles of the template's functions.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use axum::http::HeaderMap;
use cellar_stacks::template::Template;

use super::access_request::AccessRequest;
use super::function::{Function, read_functions};
use super::keys::{Caller, Keys};
use super::role::{Decision, Role};
use super::statement::{Effect, Statement};
use crate::error::LocalError;
use crate::names::Names;
use crate::state::Credentials;

pub(super) const MAX_DENIALS: usize = 100;

/// Returns the actions and resources of a request, based on its headers and body. Returns an error
/// message if the request is malformed.
pub(crate) type RequestParser = fn(&HeaderMap, &[u8]) -> Result<Vec<AccessRequest>, String>;

/// Contains the error message that AWS would return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denied(pub(crate) String);

/// An action that a policy statement allows, and how often it was used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// Logical id of the role.
    pub role: String,
    /// Inline policy name.
    pub policy: String,
    /// Statement name (`Sid`).
    pub statement: String,
    /// The action as written in the statement.
    pub action: String,
    /// Number of requests that this permission has allowed since startup.
    pub used: u64,
}

/// The roles of a template's functions. Counts how often each permission is used.
#[derive(Debug)]
pub struct Roles {
    functions: Vec<Function>,
    keys: Keys,
    denials: Mutex<VecDeque<String>>,
}

impl Roles {
    pub(crate) fn open(
        template: &Template,
        names: &Names<'_>,
        operator: &Credentials,
    ) -> Result<Self, LocalError> {
        let functions = read_functions(template, names)?;
        let keys = Keys::new(operator, functions.len());
        Ok(Self { functions, keys, denials: Mutex::default() })
    }

    /// Returns the permissions of all roles, in sorted order, with their usage counts.
    #[must_use]
    pub fn permissions(&self) -> Vec<Permission> {
        // Several functions may share a role, so list each role only once.
        let mut roles_by_id: BTreeMap<&str, &Role> = BTreeMap::new();
        for function in &self.functions {
            roles_by_id.insert(&function.role.logical_id, &function.role);
        }
        let mut permissions = Vec::new();
        for role in roles_by_id.values() {
            for statement in &role.statements {
                if statement.effect == Effect::Allow {
                    add_permissions(&mut permissions, &role.logical_id, statement);
                }
            }
        }
        permissions.sort();
        permissions
    }

    /// Returns the messages of the most recent denials, oldest first.
    #[must_use]
    pub fn denials(&self) -> Vec<String> {
        let denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        denials.iter().cloned().collect()
    }

    pub(crate) fn credentials_of(&self, function_id: &str) -> Result<&Credentials, LocalError> {
        let caller = self.caller_of(function_id)?;
        self.keys.get(caller).ok_or_else(|| unknown_function(function_id))
    }

    pub(crate) fn caller_of(&self, function_id: &str) -> Result<Caller, LocalError> {
        match self.functions.iter().position(|function| function.logical_id == function_id) {
            Some(function_index) => Ok(Caller::Function(function_index)),
            None => Err(unknown_function(function_id)),
        }
    }

    pub(crate) fn signer(&self, access_key: &str) -> Option<(Caller, &Credentials)> {
        self.keys.signer(access_key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Credentials> {
        self.keys.all()
    }

    /// Denials are logged and retained.
    pub(crate) fn authorize(&self, caller: Caller, request: &AccessRequest) -> Result<(), Denied> {
        let Caller::Function(function_index) = caller else { return Ok(()) };
        let (decision, session_arn) = match self.functions.get(function_index) {
            Some(function) => (function.role.decide(request), function.session_arn.as_str()),
            None => (Decision::ImplicitDeny, ""),
        };
        let AccessRequest { action, resource, .. } = request;
        let reason = match decision {
            Decision::Allowed => return Ok(()),
            Decision::ImplicitDeny => {
                format!("because no identity-based policy allows the {action} action")
            }
            Decision::ExplicitDeny => {
                "with an explicit deny in an identity-based policy".to_owned()
            }
        };
        let message = format!(
            "User: {session_arn} is not authorized to perform: {action} on resource: {resource} {reason}"
        );
        tracing::warn!(denied = message, "a function lacks a permission");
        self.record_denial(message.clone());
        Err(Denied(message))
    }

    fn record_denial(&self, message: String) {
        let mut denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        if denials.len() >= MAX_DENIALS {
            denials.pop_front();
        }
        denials.push_back(message);
    }
}

fn add_permissions(permissions: &mut Vec<Permission>, role_id: &str, statement: &Statement) {
    for action in &statement.actions {
        permissions.push(Permission {
            role: role_id.to_owned(),
            policy: statement.policy.clone(),
            statement: statement.sid.clone(),
            action: action.pattern.clone(),
            used: action.use_count(),
        });
    }
}

fn unknown_function(function_id: &str) -> LocalError {
    let why = "the template has no such function".to_owned();
    LocalError::Template { logical_id: function_id.to_owned(), why }
}

#[cfg(test)]
impl Roles {
    /// Creates roles without functions. The operator has the given keys.
    pub(crate) fn of_operator((access_key, secret_key): (&str, &str)) -> std::sync::Arc<Self> {
        let (access_key, secret_key) = (access_key.to_owned(), secret_key.to_owned());
        let keys = Keys::new(&Credentials { access_key, secret_key }, 0);
        std::sync::Arc::new(Self { functions: vec![], keys, denials: Mutex::default() })
    }
}
