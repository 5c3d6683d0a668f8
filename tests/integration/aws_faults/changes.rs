//! Changes that fail, are rolled back, lose their connection, or run concurrently.

use super::account::{DEPLOY, faked};
use super::fake::{Fault, Step};

const LAMBDA: &str = "AWS::Lambda::Function";

#[tokio::test]
async fn a_change_set_that_fails_says_why_and_leaves_nothing() {
    for is_new in [true, false] {
        let (fake, account) = faked().await;
        if !is_new {
            fake.world().deployed("UPDATE_COMPLETE");
        }
        fake.world().change_set_fails =
            Some("Parameters: [ArtifactKey] must have values; Template error: nothing fits");
        let run = account.deploy().await;
        assert_eq!(run.code, 1, "{run:?}");
        assert!(fake.world().change_sets.is_empty(), "the change set is deleted");
        let asked = fake.world().asked.clone();
        assert_eq!(asked.iter().any(|it| it == "DeleteStack"), is_new, "{asked:?}");
        if is_new {
            account.check("change-set-failed", &[&run]);
        }
    }
}

/// The status of a change set that failed the early validation does not contain the reason.
#[tokio::test]
async fn a_resource_that_fails_the_validation_is_named() {
    let (fake, account) = faked().await;
    {
        let mut world = fake.world();
        world.change_set_fails = Some(
            "The following hook(s)/validation failed: [AWS::EarlyValidation::ResourceExistenceCheck]. To \
             troubleshoot Early Validation errors, use the DescribeEvents API.",
        );
        world.invalid_resources = vec![("EntryTable", "A table with this name already exists.")];
    }
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("validation-failed", &[&run]);
    // Without permission to read the events, the status of the change set is shown.
    fake.fail("DescribeEvents", 1, Fault::Error(403, "AccessDenied", "no".to_owned()));
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("EarlyValidation"), "{run:?}");
}

#[tokio::test]
async fn a_change_set_that_nobody_wants_does_not_delete_a_stack_that_others_make() {
    let (fake, account) = faked().await;
    fake.world().change_set_fails = Some("No.");
    // Another user's change set was executed in the meantime.
    fake.when("DeleteChangeSet", |world| world.deployed("CREATE_IN_PROGRESS"));
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    let asked = fake.world().asked.clone();
    assert!(!asked.iter().any(|it| it == "DeleteStack"), "{asked:?}");
}

#[tokio::test]
async fn a_resource_that_fails_is_named_with_its_line_and_the_stack_is_as_before() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[
        Step::Resource("ApiFunction", LAMBDA, "UPDATE_IN_PROGRESS", ""),
        Step::Resource("ApiFunction", LAMBDA, "UPDATE_FAILED", "Could not unzip uploaded file."),
        Step::Resource("RelayFunction", LAMBDA, "UPDATE_FAILED", "Resource update cancelled"),
        Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", "The following resource(s) failed to update"),
        Step::Stack("UPDATE_ROLLBACK_COMPLETE", ""),
    ]);
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("resource-failed", &[&run]);
}

/// CloudFormation disables the rollback of express deployments unless the request enables it.
#[tokio::test]
async fn a_failed_express_deployment_is_rolled_back() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[
        Step::Resource("ApiFunction", LAMBDA, "UPDATE_FAILED", "Could not unzip uploaded file."),
        Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", "The following resource(s) failed to update"),
        Step::Stack("UPDATE_ROLLBACK_COMPLETE", ""),
    ]);
    let run = account.run(&[DEPLOY.as_slice(), &["--express"]].concat()).await;
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(fake.world().stack.as_ref().unwrap().status, "UPDATE_ROLLBACK_COMPLETE");
    assert!(run.stderr.contains("was rolled back to its previous state"), "{run:?}");
}

#[tokio::test]
async fn an_alarm_that_takes_a_deployment_back_is_named() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    let alarm = "Rollback trigger arn:aws:cloudwatch:eu-west-1:000000000000:alarm:ApiErrors went \
                 into ALARM state";
    fake.world().on_change(&[
        Step::Resource("ApiFunction", LAMBDA, "UPDATE_COMPLETE", ""),
        Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", alarm),
        Step::Stack("UPDATE_ROLLBACK_COMPLETE", ""),
    ]);
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("alarm", &[&run]);
}

#[tokio::test]
async fn a_rollback_that_fails_too_says_how_it_goes_on() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[
        Step::Resource("ApiFunction", LAMBDA, "UPDATE_FAILED", "The role is not there."),
        Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", ""),
        Step::Stack("UPDATE_ROLLBACK_FAILED", ""),
    ]);
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("rollback-failed", &[&run]);
}

#[tokio::test]
async fn a_connection_that_is_lost_in_the_middle_is_taken_up_by_the_next_run() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[Step::Hold]);
    fake.when("ExecuteChangeSet", |world| {
        world.fail("DescribeStacks", usize::MAX, Fault::Broken);
    });
    let first = account.deploy().await;
    assert_eq!(first.code, 1, "{first:?}");
    fake.clear_faults();
    fake.world().finish_update();
    let second = account.deploy().await;
    assert_eq!(second.code, 0, "{second:?}");
    assert!(second.stderr.contains("waiting until this has finished"), "{second:?}");
    account.check("connection-lost", &[&first]);
}

#[tokio::test]
async fn a_short_silence_is_no_failure() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.when("ExecuteChangeSet", |world| world.fail("DescribeStacks", 5, Fault::Broken));
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
}

#[tokio::test]
async fn a_lost_answer_to_the_execution_is_not_taken_for_a_failure() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.fail("ExecuteChangeSet", 1, Fault::Lost);
    // With the default number of attempts, the request is retried with the same token.
    let account = account.with("AWS_MAX_ATTEMPTS", "3");
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
    let executed = fake.world().asked.iter().filter(|it| *it == "ExecuteChangeSet").count();
    assert_eq!(executed, 2);

    // The reply is lost for good. The change may have started; the next run finds its result.
    fake.fail("ExecuteChangeSet", 1, Fault::Lost);
    let account = account.with("AWS_MAX_ATTEMPTS", "1");
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("execution-lost", &[&run]);
    assert_eq!(account.deploy().await.code, 0);
}

#[tokio::test]
async fn of_two_deployments_at_once_one_waits_or_says_that_it_is_to_be_run_again() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    // Both runs read the stack before either started; the other run started first.
    fake.when("ExecuteChangeSet", |world| world.deployed("UPDATE_IN_PROGRESS"));
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    assert!(fake.world().change_sets.is_empty(), "the slower change set is deleted");
    fake.world().finish_update();
    let again = account.deploy().await;
    assert_eq!(again.code, 0, "{again:?}");
    account.check("two-at-once", &[&run]);
}
