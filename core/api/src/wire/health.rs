//! `GET /v1/health`.

use serde::{Deserialize, Serialize};

/// What runs here, and what it reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Whether everything is reachable.
    pub ok: bool,
    /// The version of the build.
    pub build: String,
    /// The name of the stack.
    pub stack: String,
    /// Each thing the API needs, by name.
    pub dependencies: Vec<DependencyStatus>,
}

/// One thing that the API needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DependencyStatus {
    /// Its name.
    pub name: String,
    /// Whether it answered.
    pub ok: bool,
}
