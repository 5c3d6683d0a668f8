//! Request-signing credentials of the operator and of each function.

use subtle::ConstantTimeEq as _;

use crate::state::Credentials;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The owner of the state directory, who has all permissions.
    Operator,
    /// A function of the template, identified by its index.
    Function(usize),
}

/// Functions' credentials are random, created at each start and held only in memory.
#[derive(Debug)]
pub(super) struct Keys {
    operator: Credentials,
    functions: Vec<Credentials>,
}

impl Keys {
    pub(super) fn new(operator: &Credentials, function_count: usize) -> Self {
        let functions = (0..function_count).map(|_| Credentials::random()).collect();
        Self { operator: operator.clone(), functions }
    }

    pub(super) fn get(&self, caller: Caller) -> Option<&Credentials> {
        match caller {
            Caller::Operator => Some(&self.operator),
            Caller::Function(index) => self.functions.get(index),
        }
    }

    /// Compares keys in constant time to prevent timing attacks.
    pub(super) fn signer(&self, access_key: &str) -> Option<(Caller, &Credentials)> {
        let owns_key = |credentials: &Credentials| -> bool {
            credentials.access_key.as_bytes().ct_eq(access_key.as_bytes()).into()
        };
        if owns_key(&self.operator) {
            return Some((Caller::Operator, &self.operator));
        }
        for (function_index, credentials) in self.functions.iter().enumerate() {
            if owns_key(credentials) {
                return Some((Caller::Function(function_index), credentials));
            }
        }
        None
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Credentials> {
        [&self.operator].into_iter().chain(&self.functions)
    }
}
