//! Name and settings of the artifact bucket. Manual changes of the settings are reverted.

use serde_json::Value;

use super::account::{Account, DEPLOY, faked};
use super::fake::{CLOSED, Fake, Fault, LIFECYCLE, POLICY, REGIONAL_BUCKET};

/// The artifact bucket of earlier versions.
const GLOBAL_BUCKET: &str = "cellar-artifacts-000000000000-eu-west-1";

/// Changes the bucket settings, as a user could.
fn change(fake: &Fake) {
    let mut world = fake.world();
    let open = CLOSED.ours.replacen("true", "false", 1);
    let expiry = "<LifecycleConfiguration><Rule><ID>mine</ID><Filter><Prefix>templates/</Prefix>\
                  </Filter><Status>Enabled</Status><Expiration><Days>90</Days></Expiration></Rule>\
                  </LifecycleConfiguration>";
    let allow = r#"{"Version":"2012-10-17","Statement":{"Sid":"Mine","Effect":"Allow","Principal":
        {"AWS":"arn:aws:iam::111111111111:root"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"}}"#;
    for (name, text) in
        [(CLOSED.name, open), (LIFECYCLE.name, expiry.to_owned()), (POLICY.name, allow.to_owned())]
    {
        world.settings.insert(name, text);
    }
}

fn puts(fake: &Fake) -> usize {
    let world = fake.world();
    let settings = ["PutBucketPolicy", "PutBucketLifecycle", "PutPublicAccessBlock"];
    world.asked.iter().filter(|asked| settings.contains(&asked.as_str())).count()
}

async fn deploy(account: &Account, arguments: &[&str]) -> String {
    let run = account.run(&[&DEPLOY, arguments].concat()).await;
    assert_eq!(run.code, 0, "{run:?}");
    run.stderr
}

#[tokio::test]
async fn settings_that_differ_are_put_back_beside_those_of_others() {
    let (fake, account) = faked().await;
    deploy(&account, &[]).await;
    assert_eq!(puts(&fake), 0, "correct settings are not written");
    change(&fake);
    let said = deploy(&account, &[]).await;
    assert!(said.contains("restored public access block, TLS-only policy"), "{said}");
    assert_eq!(puts(&fake), 3);
    {
        let settings = &fake.world().settings;
        assert!(!settings[CLOSED.name].contains("false"), "{settings:?}");
        let policy: Value = serde_json::from_str(&settings[POLICY.name]).unwrap();
        let ours: Value = serde_json::from_str(POLICY.ours).unwrap();
        assert_eq!(policy["Statement"][0]["Sid"], "Mine");
        assert_eq!(policy["Statement"][1], ours["Statement"][0]);
        let rules = &settings[LIFECYCLE.name];
        assert!(rules.contains("<ID>mine</ID>") && rules.contains("abort-uploads"), "{rules}");
    }
    let said = deploy(&account, &[]).await;
    assert!(!said.contains("restored") && puts(&fake) == 3, "{said}");
    // Missing settings also count as different.
    fake.world().settings.clear();
    deploy(&account, &[]).await;
    assert_eq!(puts(&fake), 6);
}

#[tokio::test]
async fn a_bucket_of_the_users_own_is_as_they_want_it() {
    let (fake, account) = faked().await;
    change(&fake);
    fake.world().buckets.0.insert("my-own-bucket".to_owned());
    deploy(&account, &["--artifact-bucket", "my-own-bucket"]).await;
    assert_eq!(puts(&fake), 0);
}

#[tokio::test]
async fn what_may_not_be_read_is_left_alone_and_what_may_not_be_written_is_told() {
    let denied = |action: &str| {
        let message = format!("User u is not authorized to perform: {action} on resource: b");
        Fault::Error(403, "AccessDenied", message)
    };
    let (fake, account) = faked().await;
    change(&fake);
    for call in ["GetBucketPolicy", "GetBucketLifecycle", "GetPublicAccessBlock"] {
        fake.fail(call, 1, denied("s3:Get"));
    }
    let said = deploy(&account, &[]).await;
    assert!(!said.contains("restored") && puts(&fake) == 0, "{said}");
    fake.fail("PutPublicAccessBlock", 1, denied("s3:PutBucketPublicAccessBlock"));
    let said = deploy(&account, &[]).await;
    let told = "has no public access block, and restoring this setting failed: cannot block \
                public access to the artifact bucket: User u is not authorized to perform: \
                s3:PutBucketPublicAccessBlock";
    assert!(said.contains(told), "{said}");
    assert!(said.contains("restored TLS-only policy, cleanup of"), "{said}");
}

fn buckets(fake: &Fake) -> Vec<String> {
    fake.world().buckets.0.iter().cloned().collect()
}

#[tokio::test]
async fn a_new_bucket_has_a_name_that_no_other_account_can_take() {
    let (fake, account) = faked().await;
    fake.world().buckets.0.clear();
    let said = deploy(&account, &[]).await;
    assert!(said.contains(&format!("created {REGIONAL_BUCKET}")), "{said}");
    assert_eq!(buckets(&fake), [REGIONAL_BUCKET]);
    assert_eq!(puts(&fake), 3, "it has its settings");
    // The next deployment finds it.
    deploy(&account, &[]).await;
    assert_eq!(buckets(&fake), [REGIONAL_BUCKET]);
}

#[tokio::test]
async fn the_bucket_of_earlier_versions_is_used_if_this_account_has_it() {
    let (fake, account) = faked().await;
    fake.world().buckets.0 = [GLOBAL_BUCKET.to_owned()].into();
    let said = deploy(&account, &[]).await;
    assert!(said.contains(&format!("Check the artifact bucket: {GLOBAL_BUCKET}")), "{said}");
    assert!(!said.contains(REGIONAL_BUCKET), "{said}");
    assert_eq!(buckets(&fake), [GLOBAL_BUCKET]);
    // Its settings are restored as well.
    change(&fake);
    assert!(deploy(&account, &[]).await.contains("restored public access block"));
}

/// S3 reports a bucket with another owner than expected like one without access.
#[tokio::test]
async fn a_global_name_that_another_account_has_taken_does_not_matter() {
    for taken in
        [Fault::Bare(403, None), Fault::Bare(301, Some(("x-amz-bucket-region", "us-west-2")))]
    {
        let (fake, account) = faked().await;
        fake.world().buckets.0.clear();
        fake.fail("HeadBucket", 1, taken);
        deploy(&account, &[]).await;
        assert_eq!(buckets(&fake), [REGIONAL_BUCKET]);
    }
}

#[tokio::test]
async fn a_region_without_account_regional_names_gets_a_global_name() {
    let (fake, account) = faked().await;
    fake.world().buckets.0.clear();
    let account = account.with("AWS_REGION", "me-south-1");
    deploy(&account, &[]).await;
    assert_eq!(buckets(&fake), ["cellar-artifacts-000000000000-me-south-1"]);
}

#[tokio::test]
async fn a_bucket_of_the_users_own_is_created_in_the_namespace_of_its_name() {
    for name in ["my-own-bucket", "my-own-000000000000-eu-west-1-an"] {
        let (fake, account) = faked().await;
        fake.world().buckets.0.clear();
        deploy(&account, &["--artifact-bucket", name]).await;
        assert_eq!(buckets(&fake), [name]);
    }
}
