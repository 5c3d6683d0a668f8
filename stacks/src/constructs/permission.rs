//! `AWS::Lambda::Permission`: who may call a function.

use serde_json::{Map, Value};

use super::properties::Properties;
use super::{Construct, Function, ResourceType};
use crate::expression::Expression;
use crate::stack::Handle;

/// Permission for everybody to reach a function through its URL. AWS wants two of them: without
/// the second one, URLs made since October 2025 answer 403.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    function: Expression,
    way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Url,
    InvocationThroughUrl,
}

impl Permission {
    /// `lambda:InvokeFunctionUrl`: to call the URL.
    pub fn public_url(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), way: Way::Url }
    }

    /// `lambda:InvokeFunction`, but only as part of a call of the URL.
    pub fn invocation_through_url(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), way: Way::InvocationThroughUrl }
    }
}

impl Construct for Permission {
    const TYPE: ResourceType = ResourceType::Permission;

    fn properties(self) -> Map<String, Value> {
        let properties = Properties::new().set("FunctionName", self.function).set("Principal", "*");
        match self.way {
            Way::Url => properties
                .set("Action", "lambda:InvokeFunctionUrl")
                .set("FunctionUrlAuthType", "NONE"),
            Way::InvocationThroughUrl => {
                properties.set("Action", "lambda:InvokeFunction").set("InvokedViaFunctionUrl", true)
            }
        }
        .into_map()
    }
}
