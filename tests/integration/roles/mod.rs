//! The roles of the template: they permit exactly the actions that the functions need, and all
//! other actions are refused.

mod refused;
mod sweep;

use cellar_local::{Permission, Roles};

/// Returns permitted but unused actions, as `role statement action`.
fn unused(roles: &Roles) -> Vec<String> {
    let unused = roles.permissions().into_iter().filter(|permission| permission.used == 0);
    let shown = |Permission { role, statement, action, .. }| format!("{role} {statement} {action}");
    unused.map(shown).collect()
}
