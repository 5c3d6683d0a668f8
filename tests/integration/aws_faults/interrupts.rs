//! Ctrl-C: the command reports the state of the stack, and the next run continues from it.

use super::account::{DEPLOY, faked};
use super::fake::{Fault, Step};

#[tokio::test]
async fn before_the_change_the_stack_is_as_it_was() {
    let (fake, account) = faked().await;
    fake.fail("DescribeChangeSet", 1, Fault::Silent);
    let running = account.begin(&DEPLOY);
    fake.asked("DescribeChangeSet").await;
    running.interrupt();
    let run = running.ended().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("interrupted-before", &[&run]);
    let again = account.deploy().await;
    assert_eq!(again.code, 0, "{again:?}");
    assert!(fake.world().change_sets.is_empty(), "the old change set is deleted");
}

#[tokio::test]
async fn during_the_change_aws_goes_on_and_the_next_run_waits_for_it() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[Step::Hold]);
    fake.fail("ExecuteChangeSet", 1, Fault::Held);
    let running = account.begin(&DEPLOY);
    fake.asked("ExecuteChangeSet").await;
    running.interrupt();
    let run = running.ended().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("interrupted-during", &[&run]);
    fake.world().finish_update();
    let again = account.deploy().await;
    assert_eq!(again.code, 0, "{again:?}");
}

#[tokio::test]
async fn after_the_change_the_stack_is_deployed_and_not_checked() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    // The smoke test waits for an API that never replies.
    fake.fail("Unknown", usize::MAX, Fault::Silent);
    let running = account.begin(&["deploy", "--yes"]);
    fake.asked("Unknown").await;
    running.interrupt();
    let run = running.ended().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("interrupted-after", &[&run]);
}

#[tokio::test]
async fn while_it_deletes_the_rest_is_left_for_the_next_run() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[Step::Hold]);
    fake.fail("DeleteStack", 1, Fault::Held);
    let running = account.begin(&["destroy", "--yes"]);
    fake.asked("DeleteStack").await;
    running.interrupt();
    let run = running.ended().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("interrupted-destroy", &[&run]);
    let again = account.run(&["destroy", "--yes"]).await;
    assert_eq!(again.code, 0, "{again:?}");
    assert!(fake.world().stack.is_none());
}
