//! The keys that sign requests: the operator's, and one of each function.

use subtle::ConstantTimeEq as _;

use crate::state::Credentials;

/// Who signed a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Whoever has the state folder: an administrator of the account.
    Operator,
    /// A function of the template, by its number.
    Function(usize),
}

/// All keys. Those of functions are made at each start and are in memory only.
#[derive(Debug)]
pub(super) struct Keys {
    operator: Credentials,
    functions: Vec<Credentials>,
}

impl Keys {
    /// Makes as many keys of functions.
    pub(super) fn new(operator: &Credentials, functions: usize) -> Self {
        let functions = (0..functions).map(|_| Credentials::random()).collect();
        Self { operator: operator.clone(), functions }
    }

    /// A caller's own.
    pub(super) fn of(&self, caller: Caller) -> Option<&Credentials> {
        match caller {
            Caller::Operator => Some(&self.operator),
            Caller::Function(index) => self.functions.get(index),
        }
    }

    /// Whose key it is, in a time that does not tell how near it was.
    pub(super) fn signer(&self, access_key: &str) -> Option<(Caller, &Credentials)> {
        let is_this = |own: &Credentials| -> bool {
            own.access_key.as_bytes().ct_eq(access_key.as_bytes()).into()
        };
        let functions = self.functions.iter().enumerate();
        let functions = functions.map(|(index, own)| (Caller::Function(index), own));
        let mut all = [(Caller::Operator, &self.operator)].into_iter().chain(functions);
        all.find(|(_, own)| is_this(own))
    }

    /// The operator's first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Credentials> {
        [&self.operator].into_iter().chain(&self.functions)
    }
}
