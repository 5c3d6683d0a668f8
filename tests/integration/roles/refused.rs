//! Actions that a role does not permit are refused with the messages of AWS, and the request fails
//! as it would in AWS.

use cellar_api::{
    wire::CompleteRequest, wire::CreateRequest, wire::UploadRequest, wire::hexadecimal,
};
use cellar_catalog::access::Role;
use cellar_local::Ports;
use cellar_tests::cloud::{Change, TestCloud};
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

/// Removes an action from a statement of the API's role.
fn take(template: &mut Value, statement: &str, action: &str) {
    let policies = template["Resources"]["ApiRole"]["Properties"]["Policies"].as_array_mut();
    for policy in policies.unwrap() {
        for own in policy["PolicyDocument"]["Statement"].as_array_mut().unwrap() {
            if own["Sid"] == statement {
                let actions = own["Action"].as_array_mut().unwrap();
                let before = actions.len();
                actions.retain(|own| own != action);
                assert_eq!(actions.len() + 1, before, "{statement} has no {action}");
                // A statement must have at least one action.
                if actions.is_empty() {
                    actions.push(json!("s3:Nothing"));
                }
            }
        }
    }
}

async fn start(change: Change) -> TestCloud {
    TestCloud::start_changed(Ports::default(), |config| config.snapshots.enabled = false, change)
        .await
}

/// Checks that there was exactly one refusal, of this action on a resource with this suffix.
fn assert_refused(cloud: &TestCloud, action: &str, resource: &str) {
    let denials = cloud.roles.denials();
    assert!(!denials.is_empty(), "nothing was refused");
    for denial in denials {
        let user = "User: arn:aws:sts::000000000000:assumed-role/cellar-ApiRole/cellar-ApiFunction";
        assert!(denial.starts_with(user), "{denial}");
        let what = format!(" is not authorized to perform: {action} on resource: {resource}");
        assert!(denial.contains(&what), "{denial}");
        let why = format!(" because no identity-based policy allows the {action} action");
        assert!(denial.ends_with(&why), "{denial}");
    }
}

async fn post(cloud: &TestCloud, path: &str, body: &Value) -> StatusCode {
    let request = reqwest::Client::new()
        .post(format!("{}/v1/spreadsheets{path}", cloud.url))
        .bearer_auth(cloud.token("alice", Role::Owner))
        .header("content-type", "application/json");
    request.body(body.to_string()).send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_put_that_is_not_permitted_fails_the_request() {
    let cloud = start(|template| take(template, "EntryTable", "dynamodb:PutItem")).await;
    let status = post(&cloud, "", &json!({ "nonce": "refused" })).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    let table = "arn:aws:dynamodb:local:000000000000:table/cellar-EntryTable";
    assert_refused(&cloud, "dynamodb:PutItem", table);
    let tables = cloud.dynamodb_client();
    let scan = tables.scan().table_name(&cloud.settings.segment_table).send().await.unwrap();
    assert_eq!(scan.count(), 0, "the transaction was refused as a whole");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_presigned_url_has_the_rights_of_its_signer() {
    for (action, change) in [
        ("s3:PutObject", (|template| take(template, "Uploads", "s3:PutObject")) as Change),
        ("s3:PutObjectTagging", |template| take(template, "Uploads", "s3:PutObjectTagging")),
    ] {
        let cloud = start(change).await;
        let client = cloud.client("alice");
        let nonce = "presigned".to_owned();
        let created = client.create(&CreateRequest::new(nonce)).await.unwrap();
        let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        let request = UploadRequest { bytes: 5, sha256: sha256.to_owned() };
        let grant = client.spreadsheet(created.id).request_upload(&request).await.unwrap();
        let mut put = reqwest::Client::new().put(&grant.url).body("hello");
        for (name, value) in &grant.headers {
            put = put.header(name, value);
        }
        let answer = put.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
        let xml = answer.text().await.unwrap();
        assert!(xml.contains("<Code>AccessDenied</Code>") && xml.contains(action), "{xml}");
        let bucket = &cloud.settings.bucket;
        let object = format!("arn:aws:s3:::{bucket}/uploads/{}/{}", created.id, grant.upload_id);
        assert_refused(&cloud, action, &object);
        let listed = cloud.s3_client().list_objects_v2().bucket(bucket).send().await.unwrap();
        assert_eq!(listed.key_count(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_may_list_is_told_that_an_object_is_missing() {
    for (change, may_list) in [
        ((|_| {}) as Change, true),
        (|template| take(template, "TellMissing", "s3:ListBucket"), false),
    ] {
        let cloud = start(change).await;
        let nonce = "missing".to_owned();
        let created = cloud.client("alice").create(&CreateRequest::new(nonce)).await.unwrap();
        let request = CompleteRequest {
            client_id: "c".to_owned(),
            incarnation: created.incarnation,
            acked_id: 0,
            first_id: 1,
            base: created.head,
            bytes: 5,
            sha256: hexadecimal(&[7; 32]),
        };
        let path = format!("/{}/uploads/{}/complete", created.id, Uuid::new_v4());
        let status = post(&cloud, &path, &serde_json::to_value(&request).unwrap()).await;
        if may_list {
            assert!(status.is_client_error(), "{status}");
            assert_eq!(cloud.roles.denials(), [""; 0]);
        } else {
            assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
            let bucket = format!("arn:aws:s3:::{} ", cloud.settings.bucket);
            assert_refused(&cloud, "s3:ListBucket", bucket.trim_end());
        }
    }
}
