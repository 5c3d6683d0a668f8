//! The credentials of the operator and of each function, which are used to sign requests.

use subtle::ConstantTimeEq as _;

use crate::state::Credentials;

/// The signer of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The owner of the state folder, who has all permissions.
    Operator,
    /// A function of the template, by its index.
    Function(usize),
}

/// All credentials. The credentials of functions are random. They are created at each start and
/// only kept in memory.
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

    /// Returns the credentials of a caller.
    pub(super) fn get(&self, caller: Caller) -> Option<&Credentials> {
        match caller {
            Caller::Operator => Some(&self.operator),
            Caller::Function(index) => self.functions.get(index),
        }
    }

    /// Finds the owner of an access key. Compares the keys in constant time to prevent timing
    /// attacks.
    pub(super) fn signer(&self, access_key: &str) -> Option<(Caller, &Credentials)> {
        let is_equal = |known: &Credentials| -> bool {
            known.access_key.as_bytes().ct_eq(access_key.as_bytes()).into()
        };
        let functions = self.functions.iter().enumerate();
        let functions = functions.map(|(index, known)| (Caller::Function(index), known));
        let mut all = [(Caller::Operator, &self.operator)].into_iter().chain(functions);
        all.find(|(_, known)| is_equal(known))
    }

    /// Returns all credentials. The credentials of the operator come first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Credentials> {
        [&self.operator].into_iter().chain(&self.functions)
    }
}
