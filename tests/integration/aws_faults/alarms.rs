//! Alarms that roll back a deployment. CloudFormation keeps the rollback triggers of a stack until a
//! change set replaces them, and it rolls back at once if a trigger is already in ALARM.

use super::account::{DEPLOY, faked};
use super::fake::Fake;

const API_ERRORS: &str = "ApiErrorsAlarm";
const API_THROTTLES: &str = "ApiThrottlesAlarm";
const DEAD_LETTERS: &str = "SnapshotDeadLetterAlarm";

fn arn(alarm: &str) -> String {
    format!("arn:aws:cloudwatch:eu-west-1:000000000000:alarm:{alarm}")
}

/// Deploys a stack whose alarms have these states.
fn set_alarms(fake: &Fake, states: &[(&'static str, &'static str)]) {
    let mut world = fake.world();
    world.deployed("UPDATE_COMPLETE");
    world.alarms = states.iter().copied().collect();
}

fn rollback_triggers(fake: &Fake) -> Vec<String> {
    fake.world().stack.as_ref().unwrap().rollback_triggers.clone()
}

#[tokio::test]
async fn ignored_alarms_are_removed_from_the_stack() {
    let (fake, account) = faked().await;
    set_alarms(&fake, &[(API_ERRORS, "OK"), (API_THROTTLES, "OK"), (DEAD_LETTERS, "OK")]);
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
    // A dead letter stays for up to 14 days, so its alarm must not block the deployments until then.
    assert_eq!(rollback_triggers(&fake), [arn(API_ERRORS), arn(API_THROTTLES)]);
    let ignoring = [DEPLOY.as_slice(), &["--ignore-alarms"]].concat();
    let run = account.run(&ignoring).await;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(rollback_triggers(&fake), [""; 0]);
}

#[tokio::test]
async fn an_alarm_that_is_already_active_does_not_roll_back_the_deployment() {
    let (fake, account) = faked().await;
    set_alarms(&fake, &[(API_ERRORS, "ALARM"), (API_THROTTLES, "OK")]);
    // The previous deployment was watched by both alarms.
    fake.world().stack.as_mut().unwrap().rollback_triggers =
        vec![arn(API_ERRORS), arn(API_THROTTLES)];
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(rollback_triggers(&fake), [arn(API_THROTTLES)]);
    let note =
        "The alarm ApiErrorsAlarm is already active, so it does not roll back this deployment.";
    assert!(run.stderr.contains(note), "{run:?}");
}
