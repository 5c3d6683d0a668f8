//! Stacks in states from which a deployment cannot simply continue.

use super::account::faked;
use super::fake::{Fault, Step, World};

const LAMBDA: &str = "AWS::Lambda::Function";

#[tokio::test]
async fn a_stack_of_somebody_else_is_left_as_it_is_whatever_its_status() {
    for status in ["CREATE_COMPLETE", "ROLLBACK_COMPLETE", "UPDATE_IN_PROGRESS", "DELETE_FAILED"] {
        let (fake, account) = faked().await;
        fake.world().deployed(status);
        let stack = fake.world().stack.take().map(|mut stack| {
            stack.tags = vec![("team".to_owned(), "others".to_owned())];
            stack
        });
        fake.world().stack = stack;
        let runs = [
            account.deploy().await,
            account.run(&["plan"]).await,
            account.run(&["destroy", "--yes", "--delete-data"]).await,
        ];
        assert!(runs.iter().all(|run| run.code == 1), "{status}: {runs:?}");
        // The key is created before the deployment and reported once.
        account.check("foreign-stack", &[&runs[0], &runs[2]]);
        let asked = fake.world().asked.clone();
        let harmless = ["GetCallerIdentity", "DescribeStacks"];
        assert!(asked.iter().all(|it| harmless.contains(&it.as_str())), "{status}: {asked:?}");
    }
}

#[tokio::test]
async fn what_was_never_made_whole_is_deleted_and_made_anew() {
    let (fake, account) = faked().await;
    let failed = [
        Step::Resource("ApiFunction", LAMBDA, "CREATE_FAILED", "ApiFunction already exists"),
        Step::Stack("ROLLBACK_IN_PROGRESS", ""),
        Step::Stack("ROLLBACK_COMPLETE", ""),
    ];
    fake.world().on_change(&failed);
    let first = account.deploy().await;
    assert_eq!(first.code, 1, "{first:?}");
    let second = account.deploy().await;
    assert_eq!(second.code, 0, "{second:?}");
    assert!(second.stderr.contains("was never created completely"), "{second:?}");
    account.check("name-taken", &[&first]);
}

#[tokio::test]
async fn a_stack_that_is_stuck_says_what_stopped_it_and_the_way_out() {
    for (name, status, events) in [
        (
            "update-rollback-failed",
            "UPDATE_ROLLBACK_FAILED",
            [
                Step::Stack("UPDATE_ROLLBACK_IN_PROGRESS", "it failed"),
                Step::Resource("ApiFunction", LAMBDA, "UPDATE_FAILED", "The bundle is gone."),
                Step::Stack("UPDATE_ROLLBACK_FAILED", ""),
            ],
        ),
        // Another tool updated the stack with its rollback disabled.
        (
            "update-failed",
            "UPDATE_FAILED",
            [
                Step::Resource("ApiFunction", LAMBDA, "UPDATE_IN_PROGRESS", ""),
                Step::Resource("ApiFunction", LAMBDA, "UPDATE_FAILED", "The bundle is gone."),
                Step::Stack("UPDATE_FAILED", ""),
            ],
        ),
        (
            "delete-failed",
            "DELETE_FAILED",
            [
                Step::Stack("DELETE_IN_PROGRESS", "User Initiated"),
                Step::Resource("ApiFunction", LAMBDA, "DELETE_FAILED", "Rate exceeded"),
                Step::Stack("DELETE_FAILED", ""),
            ],
        ),
    ] {
        let (fake, account) = faked().await;
        fake.world().deployed("UPDATE_COMPLETE");
        fake.world().on_change(&events);
        // The first run fails and leaves the stack in this state.
        let first = account.deploy().await;
        assert_eq!(first.code, 1, "{first:?}");
        let run = account.deploy().await;
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(fake.world().stack.as_ref().unwrap().status, status);
        assert!(fake.world().change_sets.is_empty());
        account.check(name, &[&run]);
    }
}

#[tokio::test]
async fn what_is_cleaned_up_behind_an_update_is_waited_for() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS");
    fake.world().remaining_steps = [
        Step::Resource("Old", LAMBDA, "DELETE_IN_PROGRESS", ""),
        Step::Resource("Old", LAMBDA, "DELETE_COMPLETE", ""),
        Step::Resource("Older", LAMBDA, "DELETE_IN_PROGRESS", ""),
        Step::Resource("Older", LAMBDA, "DELETE_COMPLETE", ""),
        Step::Stack("UPDATE_COMPLETE", ""),
    ]
    .into();
    let run = account.deploy().await;
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("waiting until this has finished"), "{run:?}");
}

/// CloudFormation describes a deleted stack only by its id.
#[tokio::test]
async fn the_end_of_a_deletion_is_seen_though_the_first_to_tell_of_it_is_not_heard() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    let breaks = |world: &mut World| world.fail("DescribeStackEvents", 1, Fault::Broken);
    fake.when("DeleteStack", breaks);
    let run = account.run(&["destroy", "--yes"]).await;
    assert_eq!(run.code, 0, "{run:?}");
    assert!(fake.world().stack.is_none());
}
