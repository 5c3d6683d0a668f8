//! Saved plans. A plan contains a change set and the state for which the change set was created.

use serde::{Deserialize, Serialize};

use crate::git::Commit;

pub(crate) const PLAN_VERSION: u32 = 1;

/// Contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// A plan can be applied only if its version is [`PLAN_VERSION`].
    pub(crate) version: u32,
    pub(crate) stack: String,
    pub(crate) stack_id: String,
    /// ARN of the change set.
    pub(crate) change_set: String,
    pub(crate) basis: PlanBasis,
}

/// The plan can be applied only if this state is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanBasis {
    pub(crate) account: String,
    pub(crate) region: String,
    /// `None` outside a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<Commit>,
    /// BLAKE3 hash of the new template, in hexadecimal.
    pub(crate) template: String,
    /// BLAKE3 hash of the deployed template, in hexadecimal. `None` if the stack did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deployed: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StalePlan {
    #[error("its format has version {0}, but this version of synth reads version {PLAN_VERSION}")]
    Version(u32),
    #[error("it was created for stack {0}")]
    Stack(String),
    #[error("it was created for account {account}, {region}")]
    AccountOrRegion {
        /// Account of the plan.
        account: String,
        region: String,
    },
    #[error("it was created at commit {0}")]
    Commit(String),
    /// The synthesized template has changed, although the same commit is checked out. Either files
    /// were modified, or this machine has another default architecture.
    #[error("the synthesized template has changed since the plan was created")]
    Template,
    #[error("the stack was changed after the plan was created")]
    Deployed,
    /// The change set of the plan was deleted or has already been executed.
    #[error("its change set was deleted or has already been executed")]
    ChangeSet,
}

impl Plan {
    pub(crate) fn check_basis(
        &self,
        stack_name: &str,
        current_basis: &PlanBasis,
    ) -> Result<(), StalePlan> {
        let planned_basis = &self.basis;
        if self.version != PLAN_VERSION {
            return Err(StalePlan::Version(self.version));
        }
        if self.stack != stack_name {
            return Err(StalePlan::Stack(self.stack.clone()));
        }
        if planned_basis.account != current_basis.account
            || planned_basis.region != current_basis.region
        {
            return Err(StalePlan::AccountOrRegion {
                account: planned_basis.account.clone(),
                region: planned_basis.region.clone(),
            });
        }
        if planned_basis.commit_id() != current_basis.commit_id() {
            let planned_commit =
                planned_basis.commit_id().unwrap_or("none, outside a git repository");
            return Err(StalePlan::Commit(planned_commit.to_owned()));
        }
        if planned_basis.template != current_basis.template {
            return Err(StalePlan::Template);
        }
        if planned_basis.deployed != current_basis.deployed {
            return Err(StalePlan::Deployed);
        }
        Ok(())
    }
}

impl PlanBasis {
    fn commit_id(&self) -> Option<&str> {
        self.commit.as_ref().map(|commit| commit.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let commit = Commit { id: "c1".to_owned(), changed: false };
        Plan {
            version: PLAN_VERSION,
            stack: "cellar".to_owned(),
            stack_id: "arn:stack".to_owned(),
            change_set: "arn:set".to_owned(),
            basis: PlanBasis {
                account: "1".to_owned(),
                region: "eu-west-1".to_owned(),
                commit: Some(commit),
                template: "t1".to_owned(),
                deployed: Some("t0".to_owned()),
            },
        }
    }

    #[test]
    fn a_plan_is_stale_after_any_change() {
        let plan = plan();
        let now = plan.basis.clone();
        assert_eq!(plan.check_basis("cellar", &now), Ok(()));
        let commit = |id: &str| Some(Commit { id: id.to_owned(), changed: true });
        // Uncommitted changes matter only if they change the template.
        assert_eq!(
            plan.check_basis("cellar", &PlanBasis { commit: commit("c1"), ..now.clone() }),
            Ok(())
        );
        assert!(matches!(plan.check_basis("other", &now), Err(StalePlan::Stack(_))));
        for (other, message) in [
            (PlanBasis { account: "2".to_owned(), ..now.clone() }, "account 1"),
            (PlanBasis { region: "x".to_owned(), ..now.clone() }, "eu-west-1"),
            (PlanBasis { commit: commit("c2"), ..now.clone() }, "commit c1"),
            (PlanBasis { commit: None, ..now.clone() }, "commit c1"),
            (
                PlanBasis { template: "t2".to_owned(), ..now.clone() },
                "synthesized template has changed",
            ),
            (PlanBasis { deployed: None, ..now.clone() }, "stack was changed after the plan"),
        ] {
            let error = plan.check_basis("cellar", &other).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let newer = Plan { version: PLAN_VERSION + 1, ..plan };
        assert_eq!(newer.check_basis("cellar", &now), Err(StalePlan::Version(PLAN_VERSION + 1)));
    }

    #[test]
    fn a_plan_survives_serialization() {
        let text = serde_json::to_string(&plan()).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan());
        let mut outside = plan();
        outside.basis.commit = None;
        let text = serde_json::to_string(&outside).unwrap();
        assert!(!text.contains("commit"));
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), outside);
    }
}
