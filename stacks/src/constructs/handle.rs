//! Typed references to the constructs of a stack.

use std::marker::PhantomData;

use crate::expression::Expression;

/// A reference to a construct in a stack. Its methods return only attributes that the type of the
/// construct supports.
#[derive(Debug)]
pub struct Handle<C> {
    logical_id: String,
    construct: PhantomData<fn() -> C>,
}

// `#[derive(Clone)]` would require `C: Clone`, although cloning a reference does not clone the
// construct.
impl<C> Clone for Handle<C> {
    fn clone(&self) -> Self {
        Self { logical_id: self.logical_id.clone(), construct: PhantomData }
    }
}

impl<C> Handle<C> {
    pub(crate) fn new(logical_id: &str) -> Self {
        Self { logical_id: logical_id.to_owned(), construct: PhantomData }
    }

    pub fn logical_id(&self) -> &str {
        &self.logical_id
    }

    pub(super) fn reference(&self) -> Expression {
        Expression::reference(&self.logical_id)
    }

    pub(super) fn attribute(&self, attribute: &str) -> Expression {
        Expression::attribute(&self.logical_id, attribute)
    }
}
