//! The local S3 as browsers and scripts use it: CORS, ranges, refusals and restarts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cellar_engine::ports::{BlobKey, Blobs as _, GetOutcome, NewBlob, UploadGrant};
use cellar_local::{LocalCloud, LocalError, Options, StateFolder};
use cellar_runtime::s3::{S3Blobs, client_for_endpoint};
use cellar_stacks::{Architecture, Config, Template, cellar_stack};
use cellar_tests::cloud::TestCloud;

const ORIGIN: &str = "https://sheets.example";
const BYTES: &[u8] = b"0123456789";
/// SHA-256 of the test's bytes.
const SHA256: [u8; 32] = [
    0x84, 0xd8, 0x98, 0x77, 0xf0, 0xd4, 0x04, 0x1e, 0xfb, 0x6b, 0xf9, 0x1a, 0x16, 0xf0, 0x24, 0x8f,
    0x2f, 0xd5, 0x73, 0xe6, 0xaf, 0x05, 0xc1, 0x9f, 0x96, 0xbe, 0xdb, 0x9f, 0x88, 0x2f, 0x78, 0x82,
];

fn new_blob(key: &str) -> NewBlob {
    NewBlob {
        key: BlobKey::new(key).unwrap(),
        bytes: Bytes::from_static(BYTES),
        sha256: SHA256,
        content_type: None,
        content_encoding: None,
        pending: false,
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn template() -> Template {
    let config = Config { cors_origins: vec![ORIGIN.to_owned()], ..Config::default() };
    cellar_stack(&config, Architecture::X86_64).unwrap()
}

async fn start(folder: &StateFolder) -> Result<LocalCloud, LocalError> {
    let options = Options { stack: "cellar".to_owned(), port: 0 };
    LocalCloud::start(&template(), folder, &options).await
}

fn blobs(cloud: &LocalCloud) -> S3Blobs {
    let (access_key, secret_key) = cloud.credentials();
    let client = client_for_endpoint(&cloud.buckets_url(), access_key, secret_key);
    S3Blobs::new(cloud.settings().bucket.clone(), client, Arc::default())
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_and_credentials_survive_a_restart_and_a_lost_bucket_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let folder = StateFolder::new(parent.path().join("local"));
    let cloud = start(&folder).await.unwrap();
    let new = new_blob("kept");
    blobs(&cloud).put(new.clone()).await.unwrap();
    let head = blobs(&cloud).head(&new.key).await.unwrap();
    let (access_key, secret_key) = cloud.credentials();
    let credentials = (access_key.to_owned(), secret_key.to_owned());
    assert!(!format!("{cloud:?}").contains(secret_key), "the secret is printed");
    tokio::task::spawn_blocking(move || drop(cloud)).await.unwrap();
    let file = folder.path().join("bucket-credentials.json");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o077, 0);

    let cloud = start(&folder).await.unwrap();
    let (access_key, secret_key) = cloud.credentials();
    assert_eq!((access_key, secret_key), (credentials.0.as_str(), credentials.1.as_str()));
    assert_eq!(blobs(&cloud).head(&new.key).await.unwrap(), head);
    let got = blobs(&cloud).get(&new.key, 10).await.unwrap();
    assert!(matches!(got, GetOutcome::Found { bytes, .. } if bytes == BYTES));
    let bucket = folder.buckets().join(&cloud.settings().bucket);
    tokio::task::spawn_blocking(move || drop(cloud)).await.unwrap();
    fs::remove_dir_all(bucket).unwrap();
    let gone = start(&folder).await;
    assert!(matches!(gone, Err(LocalError::BucketMissing { .. })), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_configured_origins_may_upload_and_others_may_not() {
    let parent = tempfile::tempdir().unwrap();
    let cloud = start(&StateFolder::new(parent.path().join("local"))).await.unwrap();
    let key = BlobKey::new("uploads/page").unwrap();
    let grant = UploadGrant {
        key,
        length: 10,
        sha256: SHA256,
        content_type: None,
        content_encoding: None,
        valid_s: 60,
    };
    let presigned = blobs(&cloud).presign_put(&grant, now_s()).await.unwrap();
    let http = reqwest::Client::new();
    let names: Vec<&str> = presigned.headers.iter().map(|(name, _)| name.as_str()).collect();
    for (origin, allowed) in [(ORIGIN, Some(ORIGIN)), ("https://other.example", None)] {
        let asked = http
            .request(reqwest::Method::OPTIONS, &presigned.url)
            .header("origin", origin)
            .header("access-control-request-method", "PUT")
            .header("access-control-request-headers", names.join(","))
            .send()
            .await
            .unwrap();
        let answer = |name: &str| asked.headers().get(name).map(|value| value.to_str().unwrap());
        assert_eq!(asked.status(), 200);
        assert_eq!(answer("access-control-allow-origin"), allowed);
        let headers = answer("access-control-allow-headers").unwrap();
        // A browser does not let scripts set `content-length`.
        for name in names.iter().filter(|name| **name != "content-length") {
            assert!(headers.contains(name), "{name} is not in {headers}");
        }
    }
    let mut put = http.put(&presigned.url).header("origin", ORIGIN).body(BYTES);
    for (name, value) in presigned.headers.iter().filter(|(name, _)| name != "content-length") {
        put = put.header(name, value);
    }
    let reply = put.send().await.unwrap();
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.headers()["access-control-allow-origin"], ORIGIN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_of_an_object_can_be_read() {
    let cloud = TestCloud::start().await;
    let (blobs, _) = cloud.blobs();
    let new = new_blob("range");
    blobs.put(new.clone()).await.unwrap();
    let presigned = blobs.presign_get(&new.key, 60, now_s()).await.unwrap();
    let http = reqwest::Client::new();
    for (range, status, content_range, body) in [
        ("bytes=2-4", 206, Some("bytes 2-4/10"), "234"),
        ("bytes=7-", 206, Some("bytes 7-9/10"), "789"),
        ("bytes=7-100", 206, Some("bytes 7-9/10"), "789"),
        ("bytes=-1", 206, Some("bytes 9-9/10"), "9"),
        ("bytes=0-9", 206, Some("bytes 0-9/10"), "0123456789"),
    ] {
        let reply = http.get(&presigned.url).header("range", range).send().await.unwrap();
        assert_eq!(reply.status(), status, "{range}");
        let found = reply.headers().get("content-range").map(|value| value.to_str().unwrap());
        assert_eq!(found, content_range, "{range}");
        assert_eq!(reply.text().await.unwrap(), body, "{range}");
    }
    let beyond = http.get(&presigned.url).header("range", "bytes=10-").send().await.unwrap();
    assert_eq!(beyond.status(), 416);
    assert!(beyond.text().await.unwrap().contains("<Code>InvalidRange</Code>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_object_is_not_sent_again() {
    let cloud = TestCloud::start().await;
    let (blobs, _) = cloud.blobs();
    let new = new_blob("known");
    blobs.put(new.clone()).await.unwrap();
    let presigned = blobs.presign_get(&new.key, 60, now_s()).await.unwrap();
    let http = reqwest::Client::new();
    let first = http.get(&presigned.url).send().await.unwrap();
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    for (known, status, body) in [
        (etag.clone(), 304, ""),
        (format!("W/{etag}"), 304, ""),
        ("*".to_owned(), 304, ""),
        ("\"other\"".to_owned(), 200, "0123456789"),
    ] {
        let reply = http.get(&presigned.url).header("if-none-match", &known).send().await.unwrap();
        assert_eq!(
            (reply.status().as_u16(), reply.headers()["etag"].to_str().unwrap()),
            (status, &*etag),
            "{known}"
        );
        assert_eq!(reply.text().await.unwrap(), body, "{known}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_worded_like_s3s() {
    let cloud = TestCloud::start().await;
    let http = reqwest::Client::new();
    let url = format!("{}/{}", cloud.buckets_url, cloud.settings.bucket);
    for (method, path) in [("GET", "/a"), ("PUT", "/a"), ("DELETE", "/a"), ("GET", "?list-type=2")]
    {
        let method = method.parse().unwrap();
        let reply = http.request(method, format!("{url}{path}")).body("").send().await.unwrap();
        assert_eq!(reply.status(), 403, "{path}");
        assert!(reply.text().await.unwrap().contains("<Code>AccessDenied</Code>"), "{path}");
    }
    let client = cloud.s3_client();
    let error = client.get_object().bucket("no-such").key("a").send().await.unwrap_err();
    assert_eq!(error.into_service_error().meta().code(), Some("NoSuchBucket"));
    let multipart = client.create_multipart_upload().bucket(&cloud.settings.bucket).key("b");
    let error = multipart.send().await.unwrap_err();
    assert_eq!(error.into_service_error().meta().code(), Some("NotImplemented"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_leads_out_of_the_bucket_and_its_length_is_bounded() {
    let parent = tempfile::tempdir().unwrap();
    let folder = StateFolder::new(parent.path().join("local"));
    let cloud = start(&folder).await.unwrap();
    let (access_key, secret_key) = cloud.credentials();
    let client = client_for_endpoint(&cloud.buckets_url(), access_key, secret_key);
    let bucket = &cloud.settings().bucket;
    let long = "k".repeat(1_024);
    let keys = ["../out", "a/../../../out", "/absolute", "a b+c%2e", "ä/ß?x=1&y", &long];
    for key in keys {
        let put = client.put_object().bucket(bucket).key(key);
        put.body(key.as_bytes().to_vec().into()).send().await.unwrap();
        let got = client.get_object().bucket(bucket).key(key).send().await.unwrap();
        let body = got.body.collect().await.unwrap().into_bytes();
        assert_eq!(body, key.as_bytes(), "{key}");
    }
    let listed = client.list_objects_v2().bucket(bucket).send().await.unwrap();
    assert_eq!(listed.key_count(), Some(6));
    let too_long = client.put_object().bucket(bucket).key(format!("{long}k"));
    let error = too_long.body(vec![].into()).send().await.unwrap_err();
    assert_eq!(error.into_service_error().meta().code(), Some("KeyTooLongError"));
    for name in fs::read_dir(folder.buckets().join(bucket)).unwrap() {
        let name = name.unwrap().file_name();
        assert!(["objects", "data", "incoming"].contains(&name.to_str().unwrap()), "{name:?}");
    }
    assert_eq!(fs::read_dir(folder.buckets()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}
