//! Termination protection of the stack.

use std::fs;

use serde_json::Value;

use super::account::{Account, faked};
use super::fake::{Fake, Fault, Step};

const UNPROTECTED: &str = "deletion_protection: false\n";

fn is_protected(fake: &Fake) -> bool {
    fake.world().stack.as_ref().unwrap().is_protected
}

fn set_protected(fake: &Fake, is_protected: bool) {
    fake.world().stack.as_mut().unwrap().is_protected = is_protected;
}

fn protection_calls(fake: &Fake) -> usize {
    let world = fake.world();
    world.asked.iter().filter(|asked| *asked == "UpdateTerminationProtection").count()
}

async fn deploy(account: &Account) -> String {
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
    run.stderr
}

#[tokio::test]
async fn a_deployed_stack_is_protected_as_configured() {
    let (fake, account) = faked().await;
    let said = deploy(&account).await;
    assert!(said.contains("✓ Protect the stack from deletion: cellar"), "{said}");
    assert!(is_protected(&fake));
    let said = deploy(&account).await;
    assert!(!said.contains("from deletion"), "{said}");
    assert_eq!(protection_calls(&fake), 1);
    // It was turned off by hand.
    set_protected(&fake, false);
    deploy(&account).await;
    assert!(is_protected(&fake));
    let config = fs::read_to_string(account.path("cellar.yaml")).unwrap();
    fs::write(account.path("cellar.yaml"), UNPROTECTED.to_owned() + &config).unwrap();
    let said = deploy(&account).await;
    assert!(said.contains("The deployment turns off the termination protection"), "{said}");
    assert!(!is_protected(&fake));
    deploy(&account).await;
    assert_eq!(protection_calls(&fake), 3);
}

/// Returns the termination protection that a plan sets.
async fn planned_protection(account: &Account) -> Value {
    let planned = account.run(&["plan", "--json"]).await;
    assert_eq!(planned.code, 2, "{planned:?}");
    let report: Value = serde_json::from_str(&planned.stdout).unwrap();
    report["termination_protection"].clone()
}

#[tokio::test]
async fn a_plan_says_that_the_protection_changes() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    deploy(&account).await;
    assert_eq!(planned_protection(&account).await, Value::Null, "it does not change");
    set_protected(&fake, false);
    assert_eq!(planned_protection(&account).await, true);
    let planned = account.run(&["plan"]).await;
    assert_eq!(planned.code, 2, "{planned:?}");
    assert!(planned.stderr.contains("The deployment turns its protection on"), "{planned:?}");
    let applied = account.run(&["deploy", "--plan", "plan.json", "--no-smoke"]).await;
    assert_eq!(applied.code, 0, "{applied:?}");
    assert!(is_protected(&fake), "a plan also protects the stack");
}

#[tokio::test]
async fn a_missing_permission_does_not_fail_a_deployment_that_succeeded() {
    let (fake, account) = faked().await;
    let action = "cloudformation:UpdateTerminationProtection";
    let message = format!("User u is not authorized to perform: {action} on resource: s");
    fake.fail("UpdateTerminationProtection", 1, Fault::Error(403, "AccessDenied", message));
    let said = deploy(&account).await;
    assert!(!is_protected(&fake));
    assert!(said.contains("The stack is not protected from deletion: cannot set"), "{said}");
    assert!(said.contains(&format!("grant the permission {action} and run `synth deploy`")));
    deploy(&account).await;
    assert!(is_protected(&fake), "the next deployment tries again");
}

#[tokio::test]
async fn a_protected_stack_is_deleted_only_after_a_confirmation() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    let refused = account.run(&["destroy"]).await;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(is_protected(&fake) && protection_calls(&fake) == 0);
    account.check("protected-stack", &[&refused]);
    let destroyed = account.run(&["destroy", "--yes"]).await;
    assert_eq!(destroyed.code, 0, "{destroyed:?}");
    let said = "✓ Turn off the termination protection: cellar";
    assert!(destroyed.stderr.contains(said), "{destroyed:?}");
    assert!(fake.world().stack.is_none());
}

/// Data is deleted only if the stack can be deleted afterwards.
#[tokio::test]
async fn a_protection_that_may_not_be_turned_off_keeps_stack_and_data() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    let denied = Fault::Error(403, "AccessDenied", "no".to_owned());
    fake.fail("UpdateTerminationProtection", 1, denied);
    let run = account.run(&["destroy", "--yes", "--delete-data"]).await;
    assert_eq!(run.code, 1, "{run:?}");
    let asked = fake.world().asked.clone();
    assert_eq!(asked.last().unwrap(), "UpdateTerminationProtection", "{asked:?}");
}

/// The remains of a failed creation are protected only if a user has protected them by hand.
#[tokio::test]
async fn protected_remains_of_a_failed_creation_are_kept() {
    let (fake, account) = faked().await;
    fake.world().deployed("ROLLBACK_COMPLETE");
    set_protected(&fake, true);
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("protected-remains", &[&run]);
    let destroyed = account.run(&["destroy", "--yes"]).await;
    assert_eq!(destroyed.code, 0, "{destroyed:?}");
    fake.world().on_change(&[Step::Stack("CREATE_COMPLETE", "")]);
    deploy(&account).await;
}
