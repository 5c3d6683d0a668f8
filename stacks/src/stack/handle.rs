//! Typed references to what has been added to a stack.

use std::marker::PhantomData;

use crate::constructs::{
    Bucket, Construct, Function, FunctionUrl, LogGroup, Queue, Role, Table, Topic,
};
use crate::expression::Expression;

/// A construct in a stack. Its methods give only references that its type has.
#[derive(Debug)]
pub struct Handle<C> {
    logical_id: String,
    construct: PhantomData<fn() -> C>,
}

// Derived, it would ask for `C: Clone`, which a reference does not need.
impl<C> Clone for Handle<C> {
    fn clone(&self) -> Self {
        Self { logical_id: self.logical_id.clone(), construct: PhantomData }
    }
}

impl<C: Construct> Handle<C> {
    pub(super) fn new(logical_id: &str) -> Self {
        Self { logical_id: logical_id.to_owned(), construct: PhantomData }
    }

    /// The logical id in the template.
    pub fn logical_id(&self) -> &str {
        &self.logical_id
    }

    fn reference(&self) -> Expression {
        Expression::reference(&self.logical_id)
    }

    fn attribute(&self, attribute: &str) -> Expression {
        Expression::attribute(&self.logical_id, attribute)
    }
}

/// Gives the handle of a construct that has both a name and an ARN these two methods.
macro_rules! named_with_arn {
    ($($construct:ty),+) => {$(
        impl Handle<$construct> {
            /// The physical name.
            pub fn name(&self) -> Expression {
                self.reference()
            }

            /// The ARN.
            pub fn arn(&self) -> Expression {
                self.attribute("Arn")
            }
        }
    )+};
}

named_with_arn!(Table, Bucket, Role, LogGroup, Function);

impl Handle<Table> {
    /// The ARN of the table's stream; synthesis refuses it for a table without one.
    pub fn stream_arn(&self) -> Expression {
        self.attribute("StreamArn")
    }
}

impl Handle<FunctionUrl> {
    /// The URL, with a slash at its end.
    pub fn url(&self) -> Expression {
        self.attribute("FunctionUrl")
    }
}

impl Handle<Queue> {
    /// The URL, which requests to SQS name.
    pub fn url(&self) -> Expression {
        self.reference()
    }

    /// The ARN.
    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }

    /// The physical name, which metrics carry.
    pub fn name(&self) -> Expression {
        self.attribute("QueueName")
    }
}

impl Handle<Topic> {
    /// The ARN.
    pub fn arn(&self) -> Expression {
        self.reference()
    }
}
