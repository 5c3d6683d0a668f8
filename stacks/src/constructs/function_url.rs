//! `AWS::Lambda::Url`: HTTPS for a function, without a gateway and its price.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, Function, ResourceType};
use crate::expression::Expression;
use crate::stack::Handle;

/// A URL that anybody may call: the function verifies the token of each request itself, because
/// IAM knows nothing of the customer's users.
///
/// It works only together with both [`Permission`](super::Permission)s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUrl {
    function: Expression,
    cors: Option<FunctionUrlCors>,
}

/// Which pages may call a function URL, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUrlCors {
    /// Origins of the pages.
    pub origins: Vec<String>,
    /// HTTP methods, without `OPTIONS`, which Lambda answers itself and refuses in the list.
    pub methods: Vec<String>,
    /// Headers that a page may send.
    pub request_headers: Vec<String>,
    /// Headers that a page may read.
    pub exposed_headers: Vec<String>,
    /// Seconds that a browser may remember the answer.
    pub max_age_s: u32,
}

impl FunctionUrl {
    /// A URL for a function, without CORS.
    pub fn new(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), cors: None }
    }

    /// Lets pages of some origins call it.
    #[must_use]
    pub fn cors(mut self, cors: FunctionUrlCors) -> Self {
        self.cors = Some(cors);
        self
    }
}

impl From<&FunctionUrlCors> for Value {
    fn from(cors: &FunctionUrlCors) -> Self {
        json!({
            "AllowCredentials": false,
            "AllowHeaders": cors.request_headers,
            "AllowMethods": cors.methods,
            "AllowOrigins": cors.origins,
            "ExposeHeaders": cors.exposed_headers,
            "MaxAge": cors.max_age_s,
        })
    }
}

impl Construct for FunctionUrl {
    const TYPE: ResourceType = ResourceType::FunctionUrl;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("AuthType", "NONE")
            .set_option("Cors", self.cors.as_ref())
            .set("InvokeMode", "BUFFERED")
            .set("TargetFunctionArn", self.function)
            .into_map()
    }
}
