//! The safety rules of a protocol, which a model checker can disable individually.

/// The safety rules of a protocol that are enforced, where `R` is the enumeration of all rules.
///
/// All rules are enforced unless the feature `model` is enabled. A model checker disables one rule
/// at a time and must then find a violation, which proves that the rule is necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SafetyRules<R> {
    #[cfg(feature = "model")]
    disabled: Option<R>,
    #[cfg(not(feature = "model"))]
    all: std::marker::PhantomData<R>,
}

impl<R> SafetyRules<R> {
    /// Enforces all rules.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            #[cfg(feature = "model")]
            disabled: None,
            #[cfg(not(feature = "model"))]
            all: std::marker::PhantomData,
        }
    }

    /// Creates a set that enforces all rules except one.
    #[cfg(feature = "model")]
    #[must_use]
    pub const fn without(rule: R) -> Self {
        Self { disabled: Some(rule) }
    }
}

impl<R: Copy + PartialEq> SafetyRules<R> {
    /// Returns whether a rule is enforced.
    #[must_use]
    #[cfg_attr(not(feature = "model"), allow(unused_variables, reason = "all rules are enforced"))]
    pub fn is_enforced(self, rule: R) -> bool {
        #[cfg(feature = "model")]
        let is_enforced = self.disabled != Some(rule);
        #[cfg(not(feature = "model"))]
        let is_enforced = true;
        is_enforced
    }
}

impl<R> Default for SafetyRules<R> {
    fn default() -> Self {
        Self::all()
    }
}
