//! Credentials, regions and endpoints.

use super::account::{Account, faked};
use super::fake::{Fake, Fault, Step};

#[tokio::test]
async fn without_credentials_it_ends_at_once() {
    let account = Account::without_credentials().with("AWS_REGION", "eu-west-1");
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("no-credentials", &[&run]);
    assert!(!account.path(".cellar").exists(), "nothing is created");
}

#[tokio::test]
async fn a_profile_that_is_not_there_is_named() {
    let account = Account::without_credentials().with("AWS_REGION", "eu-west-1");
    let account = account.with("AWS_PROFILE", "nobody");
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("no-such-profile", &[&run]);
}

#[tokio::test]
async fn without_a_region_it_ends_at_once() {
    let account = Account::without_credentials();
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("no-region", &[&run]);
}

#[tokio::test]
async fn a_region_that_does_not_exist_is_named() {
    // The only test that uses DNS, which may be unavailable.
    let account = Account::without_credentials()
        .with("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
        .with("AWS_SECRET_ACCESS_KEY", "none")
        .with("AWS_REGION", "eu-wset-1");
    let mut run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    let line = run.stderr.lines().find(|line| line.starts_with("error: ")).unwrap().to_owned();
    let (said, cause) = line.split_once("eu-wset-1: ").unwrap();
    assert!(!cause.is_empty());
    run.stderr = run.stderr.replace(&line, &format!("{said}eu-wset-1: CAUSE"));
    account.check("no-such-region", &[&run]);
}

#[tokio::test]
async fn a_region_without_function_urls_is_refused_before_anything_is_created() {
    let (fake, account) = faked().await;
    let account = account.with("AWS_REGION", "eu-central-2");
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("region-without-function-urls", &[&run]);
    assert_eq!(fake.world().asked, ["GetCallerIdentity"]);
    assert!(!account.path(".cellar").exists(), "no key is created");
}

#[tokio::test]
async fn an_endpoint_where_nobody_is_is_named() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let account = Account::at(&format!("http://{closed}"));
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    account.check("closed-endpoint", &[&run]);
}

#[tokio::test]
async fn an_emulator_is_called_with_the_credentials_that_were_named_and_else_with_its_own() {
    let keys = "AWS_ACCESS_KEY_ID";
    let cases: [(&[(&'static str, &str)], _); 6] = [
        (&[], ("test", "us-east-1")),
        (&[("AWS_PROFILE", "own")], ("OWN", "eu-west-3")),
        // The message is the same as in other AWS tools.
        (
            &[("AWS_PROFILE", "own"), (keys, "ENV"), ("AWS_REGION", "eu-west-2")],
            ("ENV", "eu-west-2"),
        ),
        (&[(keys, "ENV")], ("ENV", "us-east-1")),
        (&[("AWS_PROFILE", "nobody")], ("test", "us-east-1")),
        (&[("AWS_PROFILE", ""), ("AWS_DEFAULT_REGION", "eu-west-2")], ("test", "eu-west-2")),
    ];
    for (variables, (key, region)) in cases {
        let fake = Fake::start().await;
        let account = Account::without_credentials().reached_at(&fake.url);
        let file = account.path("credentials");
        let secret = "aws_secret_access_key = none\n";
        let profiles = format!(
            "[default]\naws_access_key_id = DEFAULT\n{secret}region = eu-west-1\n[own]\n\
             aws_access_key_id = OWN\n{secret}region = eu-west-3\n"
        );
        std::fs::write(&file, profiles).unwrap();
        let file = file.display().to_string();
        let account = account
            .with("AWS_SHARED_CREDENTIALS_FILE", &file)
            .with("AWS_SECRET_ACCESS_KEY", "none");
        let account = variables.iter().fold(account, |it, (name, value)| it.with(name, value));
        let run = account.deploy().await;
        assert_eq!(run.code, 0, "{run:?}");
        let signed = fake.world().signed.clone();
        assert_eq!(signed, [(key.to_owned(), region.to_owned())].into(), "{variables:?}");
    }
}

#[tokio::test]
async fn credentials_that_have_expired_or_are_none_are_told_apart() {
    for (name, status, code, message) in [
        (
            "expired-credentials",
            403,
            "ExpiredToken",
            "The security token included in the request is expired",
        ),
        (
            "unknown-credentials",
            403,
            "InvalidClientTokenId",
            "The security token included in the request is invalid.",
        ),
    ] {
        let (fake, account) = faked().await;
        fake.fail("GetCallerIdentity", 9, Fault::Error(status, code, message.to_owned()));
        let run = account.deploy().await;
        assert_eq!(run.code, 1, "{run:?}");
        account.check(name, &[&run]);
    }
}

#[tokio::test]
async fn credentials_that_expire_while_aws_is_at_work_are_told_at_once_and_it_goes_on_later() {
    let (fake, account) = faked().await;
    fake.world().deployed("UPDATE_COMPLETE");
    fake.world().on_change(&[Step::Hold]);
    let expired = "The security token included in the request is expired".to_owned();
    fake.when("ExecuteChangeSet", |world| {
        world.fail("DescribeStacks", 1, Fault::Error(403, "ExpiredToken", expired));
    });
    let run = account.deploy().await;
    assert_eq!(run.code, 1, "{run:?}");
    fake.world().finish_update();
    let again = account.deploy().await;
    assert_eq!(again.code, 0, "{again:?}");
    account.check("expired-underway", &[&run]);
}
