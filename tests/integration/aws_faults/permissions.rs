//! Missing permissions: of each call of a deployment, and of the actions that CloudFormation
//! performs.

use super::account::faked;
use super::fake::{Fault, Step};

fn denied(action: &str) -> Fault {
    let message = format!(
        "User: arn:aws:iam::000000000000:user/deployer is not authorized to perform: {action} on \
         resource: * because no identity-based policy allows the {action} action"
    );
    Fault::Error(403, "AccessDenied", message)
}

#[tokio::test]
async fn the_missing_permission_of_each_call_is_named() {
    for (name, call, action) in [
        ("denied-sts", "GetCallerIdentity", "sts:GetCallerIdentity"),
        ("denied-look", "DescribeStacks", "cloudformation:DescribeStacks"),
        ("denied-upload", "PutObject", "s3:PutObject"),
        ("denied-template", "GetTemplate", "cloudformation:GetTemplate"),
        ("denied-change-set", "CreateChangeSet", "cloudformation:CreateChangeSet"),
        ("denied-events", "DescribeStackEvents", "cloudformation:DescribeStackEvents"),
        ("denied-execute", "ExecuteChangeSet", "cloudformation:ExecuteChangeSet"),
    ] {
        let (fake, account) = faked().await;
        fake.world().deployed("UPDATE_COMPLETE");
        fake.fail("HeadObject", 9, Fault::Bare(404, None));
        fake.fail(call, 9, denied(action));
        let run = account.deploy().await;
        assert_eq!(run.code, 1, "{name}: {run:?}");
        assert!(run.stderr.contains(&format!("grant the permission {action}")), "{name}: {run:?}");
        assert_eq!(fake.world().stack.as_ref().unwrap().status, "UPDATE_COMPLETE", "{name}");
        assert!(fake.world().change_sets.is_empty(), "{name}: no change set remains");
        account.check(name, &[&run]);
    }
}

#[tokio::test]
async fn a_bucket_that_is_closed_elsewhere_or_somebody_elses_is_told_apart() {
    let taken = || Fault::Error(409, "BucketAlreadyExists", "It is taken.".to_owned());
    for (name, faults) in [
        ("bucket-closed", vec![("HeadBucket", Fault::Bare(403, None))]),
        (
            "bucket-elsewhere",
            vec![("HeadBucket", Fault::Bare(301, Some(("x-amz-bucket-region", "us-west-2"))))],
        ),
        (
            "bucket-of-others",
            vec![("HeadBucket", Fault::Bare(404, None)), ("CreateBucket", taken())],
        ),
        ("bundle-closed", vec![("HeadObject", Fault::Bare(403, None))]),
    ] {
        let (fake, account) = faked().await;
        for (call, fault) in faults {
            fake.fail(call, 9, fault);
        }
        let run = account.deploy().await;
        assert_eq!(run.code, 1, "{name}: {run:?}");
        account.check(name, &[&run]);
        assert!(fake.world().stack.is_none() && fake.world().change_sets.is_empty());
    }
}

#[tokio::test]
async fn a_permission_that_cloudformation_misses_is_named_with_the_resource_and_its_line() {
    let (fake, account) = faked().await;
    let table = "AWS::DynamoDB::Table";
    let reason = "User: arn:aws:iam::000000000000:user/deployer is not authorized to perform: \
                  dynamodb:CreateTable on resource: * (Service: DynamoDb, Status Code: 400)";
    fake.world().on_change(&[
        Step::Resource("EntryTable", table, "CREATE_IN_PROGRESS", ""),
        Step::Resource("Bucket", "AWS::S3::Bucket", "CREATE_FAILED", "Resource creation cancelled"),
        Step::Resource("EntryTable", table, "CREATE_FAILED", reason),
        Step::Stack("ROLLBACK_IN_PROGRESS", "The following resource(s) failed: [EntryTable]."),
        Step::Stack("ROLLBACK_COMPLETE", ""),
    ]);
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("denied-cloudformation", &[&run]);
}
