//! `AWS::Lambda::Permission`: a permission to invoke a function.

use serde_json::{Map, Value};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A permission for everyone to invoke a function through its URL. AWS requires one permission of
/// each kind: without [`Permission::invocation_through_url`], URLs created since October 2025
/// respond with 403.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    function: Expression,
    kind: PermissionKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermissionKind {
    Url,
    InvocationThroughUrl,
}

impl Permission {
    /// Creates the permission for everyone to call the URL (`lambda:InvokeFunctionUrl`).
    pub fn public_url(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), kind: PermissionKind::Url }
    }

    /// Creates the permission for everyone to invoke the function through its URL
    /// (`lambda:InvokeFunction`). It does not allow any other invocation.
    pub fn invocation_through_url(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), kind: PermissionKind::InvocationThroughUrl }
    }
}

impl Construct for Permission {
    const TYPE: ResourceType = ResourceType::Permission;

    fn properties(self) -> Map<String, Value> {
        let properties = Properties::new().set("FunctionName", self.function).set("Principal", "*");
        match self.kind {
            PermissionKind::Url => properties
                .set("Action", "lambda:InvokeFunctionUrl")
                .set("FunctionUrlAuthType", "NONE"),
            PermissionKind::InvocationThroughUrl => {
                properties.set("Action", "lambda:InvokeFunction").set("InvokedViaFunctionUrl", true)
            }
        }
        .into_map()
    }
}
