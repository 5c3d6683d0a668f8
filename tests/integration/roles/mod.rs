//! The roles of the template: they permit what the functions do, nothing that they do not, and what they do
//! not permit is refused.

mod refused;
mod sweep;

use cellar_local::{Permission, Roles};

/// What is permitted and was not needed, as `role statement action`.
fn unused(roles: &Roles) -> Vec<String> {
    let unused = roles.permissions().into_iter().filter(|permission| permission.used == 0);
    let shown = |Permission { role, statement, action, .. }| format!("{role} {statement} {action}");
    unused.map(shown).collect()
}
