//! `AWS::Lambda::Url`: an HTTPS endpoint of a function, without the cost of an API gateway.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A public URL of a function. The function verifies the token of each request itself, because IAM does
/// not know the customer's users.
///
/// The URL requires both kinds of [`Permission`](super::Permission).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUrl {
    function: Expression,
    cors: Option<FunctionUrlCors>,
}

/// CORS settings of a function URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUrlCors {
    /// Allowed web origins.
    pub origins: Vec<String>,
    /// Allowed HTTP methods, without `OPTIONS`, which Lambda answers itself and rejects in this list.
    pub methods: Vec<String>,
    /// Headers that a page may send in a request.
    pub request_headers: Vec<String>,
    /// Headers of a response that a page may read.
    pub exposed_headers: Vec<String>,
    /// Seconds for which a browser may cache the CORS settings.
    pub max_age_s: u32,
}

impl FunctionUrl {
    /// Creates a URL without CORS.
    pub fn new(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), cors: None }
    }

    /// Allows pages of other origins to call the URL.
    #[must_use]
    pub fn cors(mut self, cors: FunctionUrlCors) -> Self {
        self.cors = Some(cors);
        self
    }
}

impl Handle<FunctionUrl> {
    /// Returns the URL, with a trailing slash.
    pub fn url(&self) -> Expression {
        self.attribute("FunctionUrl")
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
