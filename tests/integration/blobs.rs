//! S3, through the SDK and HTTP, satisfies the contract of the object store at its exact cost.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cellar_api::cost::Cost;
use cellar_engine::contract::{self, UrlRequest};
use cellar_engine::ports::{
    BlobKey, Blobs as _, GetOutcome, KeepOutcome, NewBlob, PresignedRequest, UploadGrant,
};
use cellar_tests::cloud::TestCloud;
use cellar_tests::urls::send;

#[tokio::test(flavor = "multi_thread")]
async fn s3_passes_the_contract() {
    let cloud = TestCloud::start().await;
    let (blobs, _) = cloud.blobs();
    contract::blobs(&blobs, &[]).await;
    contract::blob_versions(&blobs).await;
    let http = reqwest::Client::new();
    contract::presigned(&blobs, &[], |request| send(&http, request)).await;
}

/// SHA-256 of "five!".
const SHA256: [u8; 32] = [
    0x5e, 0x26, 0x17, 0xf2, 0x8c, 0x6b, 0x18, 0x45, 0x0c, 0xc9, 0xc5, 0x2e, 0x2c, 0xcc, 0x82, 0x24,
    0x1a, 0x4b, 0xf3, 0x5b, 0x61, 0x4e, 0x4c, 0x75, 0x25, 0xef, 0xce, 0x47, 0x7b, 0xa5, 0x59, 0x07,
];

#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_counted_once() {
    let cloud = TestCloud::start().await;
    let (blobs, meter) = cloud.blobs();
    let key = BlobKey::new("counted").unwrap();
    let new = stored(&key);
    let none = Cost::default();
    let read = Cost { object_gets: 1, ..none };

    assert_eq!(blobs.head(&key).await, Ok(None));
    assert_eq!(meter.take(), read, "a missing object is billed");
    blobs.put(new).await.unwrap();
    assert_eq!(meter.take(), Cost { object_puts: 1, object_bytes_sent: 5, ..none });
    assert!(matches!(blobs.get(&key, 5).await, Ok(GetOutcome::Found { .. })));
    assert_eq!(meter.take(), Cost { object_gets: 1, object_bytes_received: 5, ..none });
    assert!(matches!(blobs.get(&key, 4).await, Ok(GetOutcome::TooLong { .. })));
    assert_eq!(meter.take(), read, "the body of a too long object is not read");
    assert!(blobs.head(&key).await.unwrap().is_some());
    assert_eq!(meter.take(), read);
    assert_eq!(blobs.pending(&key).await, Ok(Some(true)));
    assert_eq!(meter.take(), read, "reading tags is billed like a GET");
    assert!(blobs.inspect(&key).await.unwrap().is_some());
    assert_eq!(meter.take(), Cost { object_gets: 2, ..none });
    assert_eq!(blobs.keep(&key).await, Ok(KeepOutcome::Kept));
    assert_eq!(meter.take(), Cost { object_tags: 1, ..none });
    assert_eq!(blobs.list("", None, 10).await.unwrap().blobs.len(), 1);
    assert_eq!(meter.take(), Cost { object_puts: 1, ..none }, "a list is billed like a PUT");
    blobs.delete(&key).await.unwrap();
    assert_eq!(meter.take(), Cost { object_deletes: 1, ..none });
    let grant = UploadGrant {
        key: key.clone(),
        length: 5,
        sha256: SHA256,
        content_type: None,
        content_encoding: None,
        valid_s: 60,
    };
    blobs.presign_put(&grant, 1_795_246_133).await.unwrap();
    blobs.presign_get(&key, 60, 1_795_246_133).await.unwrap();
    assert_eq!(meter.take(), none, "signing makes no request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_presigned_url_ends_after_its_time() {
    let cloud = TestCloud::start_without_snapshots().await;
    let ((blobs, _), http) = (cloud.blobs(), reqwest::Client::new());
    let (key, valid_s) = (BlobKey::new("uploads/ends").unwrap(), 60);
    let there = BlobKey::new("uploads/there").unwrap();
    blobs.put(stored(&there)).await.unwrap();
    let grant = UploadGrant {
        key: key.clone(),
        length: 5,
        sha256: SHA256,
        content_type: None,
        content_encoding: None,
        valid_s,
    };
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let ask = async |signed: PresignedRequest, body: &'static [u8]| {
        let PresignedRequest { method, url, headers, .. } = signed;
        let body = Bytes::from_static(body);
        send(&http, UrlRequest { method, url, headers, body }).await
    };
    // A URL that expired a second ago, and a URL that was just signed.
    for (signed_s, expected) in [(now_s - valid_s - 1, 403), (now_s, 200)] {
        let put = blobs.presign_put(&grant, signed_s).await.unwrap();
        assert_eq!(ask(put, b"five!").await.status, expected, "PUT");
        assert_eq!(blobs.head(&key).await.unwrap().is_some(), expected == 200);
        let get = blobs.presign_get(&there, valid_s, signed_s).await.unwrap();
        let reply = ask(get, b"").await;
        assert_eq!(reply.status, expected, "GET");
        assert_eq!(reply.body == b"five!"[..], expected == 200);
    }
}

fn stored(key: &BlobKey) -> NewBlob {
    NewBlob {
        key: key.clone(),
        bytes: Bytes::from_static(b"five!"),
        sha256: SHA256,
        content_type: None,
        content_encoding: None,
        pending: true,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_sorted_and_counted_and_never_retried() {
    let cloud = TestCloud::start().await;
    let key = BlobKey::new("key").unwrap();
    let failing = |bucket: &str, url: &str, secret_key: &str| {
        let access_key = &cloud.credentials.0;
        let client = cellar_runtime::s3::client_for_endpoint(url, access_key, secret_key);
        let meter = std::sync::Arc::default();
        let blobs = cellar_runtime::s3::S3Blobs::new(
            bucket.to_owned(),
            client,
            std::sync::Arc::clone(&meter),
        );
        (blobs, meter)
    };
    let (bucket, secret_key) = (&cloud.settings.bucket, &cloud.credentials.1);
    for (name, (blobs, meter), temporary) in [
        ("no such bucket", failing("no-such-bucket", &cloud.buckets_url, secret_key), false),
        ("a wrong signature", failing(bucket, &cloud.buckets_url, "wrong"), false),
        ("nobody there", failing(bucket, "http://127.0.0.1:1", secret_key), true),
    ] {
        let error = blobs.get(&key, 10).await.unwrap_err();
        assert_eq!(error.temporary, temporary, "{name}: {error}");
        assert_eq!(meter.take().object_gets, 1, "{name}");
    }
}
