//! `GET /v1/health`.

use serde::{Deserialize, Serialize};

/// Health of the stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Whether all services required by the API respond.
    pub ok: bool,
    /// Version of the build.
    pub build: String,
    /// Name of the stack.
    pub stack: String,
    /// Status of each service required by the API.
    pub dependencies: Vec<DependencyStatus>,
}

/// Status of a service required by the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DependencyStatus {
    /// Name of the service.
    pub name: String,
    /// Whether the service responds.
    pub ok: bool,
}
