//! Request-signing credentials of the operator and of each function.

use subtle::ConstantTimeEq as _;

use crate::state::Credentials;

/// The signer of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The owner of the state directory, who has all permissions.
    Operator,
    /// A template function, by index.
    Function(usize),
}

/// All credentials. Function credentials are random, created at each start and held only in memory.
#[derive(Debug)]
pub(super) struct Keys {
    operator: Credentials,
    functions: Vec<Credentials>,
}

impl Keys {
    /// Creates credentials for `functions` functions.
    pub(super) fn new(operator: &Credentials, functions: usize) -> Self {
        let functions = (0..functions).map(|_| Credentials::random()).collect();
        Self { operator: operator.clone(), functions }
    }

    /// Returns a caller's credentials.
    pub(super) fn get(&self, caller: Caller) -> Option<&Credentials> {
        match caller {
            Caller::Operator => Some(&self.operator),
            Caller::Function(index) => self.functions.get(index),
        }
    }

    /// Finds an access key's owner. Compares keys in constant time to resist timing attacks.
    pub(super) fn signer(&self, access_key: &str) -> Option<(Caller, &Credentials)> {
        let is_equal = |known: &Credentials| -> bool {
            known.access_key.as_bytes().ct_eq(access_key.as_bytes()).into()
        };
        let functions = self.functions.iter().enumerate();
        let functions = functions.map(|(index, known)| (Caller::Function(index), known));
        let mut all = [(Caller::Operator, &self.operator)].into_iter().chain(functions);
        all.find(|(_, known)| is_equal(known))
    }

    /// Returns all credentials, the operator's first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Credentials> {
        [&self.operator].into_iter().chain(&self.functions)
    }
}
