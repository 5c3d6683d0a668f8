//! The AWS adapters against an independent emulator. Ignored by default, because the emulator is
//! installed from a package index; `.ci/run` runs these tests.

use std::path::Path;
use std::sync::Arc;

use aws_sdk_s3::types::{BucketVersioningStatus, VersioningConfiguration};
use cellar_engine::contract::{self, Promise, Tampering};
use cellar_runtime::s3::{S3Blobs, client_for_endpoint};
use cellar_tests::emulator::Emulator;
use cellar_tests::urls::send;

use crate::jobs_contract::jobs_contract_on_an_emulator;

const BUCKET: &str = "cellar-contract";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn s3_passes_the_contract_on_an_emulator() {
    let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let client = client_for_endpoint(&emulator.url, "test", "test");
    client.create_bucket().bucket(BUCKET).send().await.unwrap();
    let blobs = S3Blobs::new(BUCKET.to_owned(), client, Arc::default());
    // The emulator keeps the tags of an object that is replaced by an object without tags.
    contract::blobs(&blobs, &[Promise::TagsAreReplaced]).await;
    let http = reqwest::Client::new();
    // The emulator accepts unsigned headers, which AWS and the local cloud refuse.
    contract::presigned(&blobs, &[Tampering::AddedHeader], |request| send(&http, request)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn versions_pass_the_contract_on_an_emulator() {
    let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let client = client_for_endpoint(&emulator.url, "test", "test");
    client.create_bucket().bucket(BUCKET).send().await.unwrap();
    let versions = VersioningConfiguration::builder().status(BucketVersioningStatus::Enabled);
    let enable = client.put_bucket_versioning().bucket(BUCKET);
    enable.versioning_configuration(versions.build()).send().await.unwrap();
    let blobs = S3Blobs::new(BUCKET.to_owned(), client, Arc::default());
    contract::blob_versions(&blobs).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn sqs_passes_the_contract_on_an_emulator() {
    let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    jobs_contract_on_an_emulator(&emulator.url).await;
}
