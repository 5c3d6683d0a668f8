//! `AWS::Lambda::Url`: an HTTPS endpoint of a function. Unlike an API gateway, it costs nothing.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A public function URL. The function must verify the token of each request itself, because IAM
/// does not know the customer's users. Calling the URL requires both kinds of
/// [`Permission`](super::Permission).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUrl {
    function: Expression,
    cors: Option<FunctionUrlCors>,
}

/// A function URL's CORS settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionUrlCors {
    /// Allowed web origins.
    pub origins: Vec<String>,
    /// The allowed HTTP methods. They must not include `OPTIONS`, which Lambda rejects because it
    /// answers these requests itself.
    pub methods: Vec<String>,
    /// Request headers that web pages may send.
    pub request_headers: Vec<String>,
    /// The response headers that web pages may read.
    pub exposed_headers: Vec<String>,
    /// The number of seconds for which browsers may cache the CORS settings.
    pub max_age_s: u32,
}

impl FunctionUrl {
    /// Creates a URL without CORS settings.
    pub fn new(function: &Handle<Function>) -> Self {
        Self { function: function.arn(), cors: None }
    }

    /// Allows web pages from other origins to call the URL.
    #[must_use]
    pub fn cors(mut self, cors: FunctionUrlCors) -> Self {
        self.cors = Some(cors);
        self
    }
}

impl Handle<FunctionUrl> {
    /// Returns the URL, which ends with a slash.
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
