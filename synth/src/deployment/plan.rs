//! Saved plans: a change set that was looked at, and what it was made of.

use serde::{Deserialize, Serialize};

use crate::git::Commit;

/// The version of the file.
pub(crate) const PLAN_VERSION: u32 = 1;

/// What is applied later, exactly as it was shown. Holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// [`PLAN_VERSION`].
    pub(crate) version: u32,
    /// The stack's name.
    pub(crate) stack: String,
    /// The stack's ARN.
    pub(crate) stack_id: String,
    /// The change set's ARN.
    pub(crate) change_set: String,
    /// What it is made of.
    pub(crate) basis: Basis,
}

/// Everything that has to be the same when a plan is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Basis {
    /// The account's number.
    pub(crate) account: String,
    /// The region.
    pub(crate) region: String,
    /// The commit that the project was at; absent outside of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<Commit>,
    /// BLAKE3 of the new template, hexadecimal.
    pub(crate) template: String,
    /// The same of the template that was deployed; absent if there was no stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deployed: Option<String>,
}

/// Why a plan is not applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StalePlan {
    /// A file of another version of Cellar.
    #[error("it has version {0}, and this is a program for version {PLAN_VERSION}")]
    Version(u32),
    /// The configuration names another stack.
    #[error("it is for the stack {0}")]
    Stack(String),
    /// The credentials are for another account.
    #[error("it is for account {account}, {region}")]
    Place {
        /// The plan's account.
        account: String,
        /// The plan's region.
        region: String,
    },
    /// The project is at another commit.
    #[error("it was made at commit {0}")]
    Commit(String),
    /// The same commit makes another template: files were changed, or this is another machine.
    #[error("the configuration makes another template now")]
    Template,
    /// Somebody deployed since.
    #[error("the stack was changed since")]
    Deployed,
    /// CloudFormation does not have it any longer, or has executed it.
    #[error("its change set cannot be executed any longer")]
    ChangeSet,
}

impl Plan {
    /// Whether the plan is still about what is there.
    pub(crate) fn check(&self, stack: &str, now: &Basis) -> Result<(), StalePlan> {
        let then = &self.basis;
        if self.version != PLAN_VERSION {
            return Err(StalePlan::Version(self.version));
        }
        if self.stack != stack {
            return Err(StalePlan::Stack(self.stack.clone()));
        }
        if (&then.account, &then.region) != (&now.account, &now.region) {
            let (account, region) = (then.account.clone(), then.region.clone());
            return Err(StalePlan::Place { account, region });
        }
        let id = |commit: &Option<Commit>| commit.as_ref().map(|commit| commit.id.clone());
        if id(&then.commit) != id(&now.commit) {
            let none = "none, outside of git".to_owned();
            return Err(StalePlan::Commit(id(&then.commit).unwrap_or(none)));
        }
        if then.template != now.template {
            return Err(StalePlan::Template);
        }
        if then.deployed == now.deployed { Ok(()) } else { Err(StalePlan::Deployed) }
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
            basis: Basis {
                account: "1".to_owned(),
                region: "eu-west-1".to_owned(),
                commit: Some(commit),
                template: "t1".to_owned(),
                deployed: Some("t0".to_owned()),
            },
        }
    }

    #[test]
    fn a_plan_is_for_what_it_was_made_of_and_nothing_else() {
        let plan = plan();
        let now = plan.basis.clone();
        assert_eq!(plan.check("cellar", &now), Ok(()));
        let commit = |id: &str| Some(Commit { id: id.to_owned(), changed: true });
        // The template says what a changed file does.
        assert_eq!(plan.check("cellar", &Basis { commit: commit("c1"), ..now.clone() }), Ok(()));
        assert!(matches!(plan.check("other", &now), Err(StalePlan::Stack(_))));
        for (other, why) in [
            (Basis { account: "2".to_owned(), ..now.clone() }, "account 1"),
            (Basis { region: "x".to_owned(), ..now.clone() }, "eu-west-1"),
            (Basis { commit: commit("c2"), ..now.clone() }, "commit c1"),
            (Basis { commit: None, ..now.clone() }, "commit c1"),
            (Basis { template: "t2".to_owned(), ..now.clone() }, "another template"),
            (Basis { deployed: None, ..now.clone() }, "changed since"),
        ] {
            let error = plan.check("cellar", &other).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let newer = Plan { version: PLAN_VERSION + 1, ..plan };
        assert_eq!(newer.check("cellar", &now), Err(StalePlan::Version(PLAN_VERSION + 1)));
    }

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let text = serde_json::to_string(&plan()).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan());
        let mut outside = plan();
        outside.basis.commit = None;
        let text = serde_json::to_string(&outside).unwrap();
        assert!(!text.contains("commit"));
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), outside);
    }
}
