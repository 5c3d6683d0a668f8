//! `GET /v1/health`.

use serde::{Deserialize, Serialize};

/// Health of the stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Health {
    /// Whether all services that the API depends on are available.
    pub ok: bool,
    /// Version of the build.
    pub build: String,
    /// Name of the stack.
    pub stack: String,
    /// Status of each service that the API depends on.
    pub dependencies: Vec<DependencyStatus>,
}

/// Status of a service that the API depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DependencyStatus {
    /// Name of the service.
    pub name: String,
    /// Whether the service responds.
    pub ok: bool,
}
