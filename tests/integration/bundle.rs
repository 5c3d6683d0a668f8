//! `synth bundle` as a process: with a prebuilt binary, and with the real binary.

use std::fs;
use std::io::{Cursor, Read as _};
use std::path::Path;

use serde_json::Value;

use crate::bootstrap;
use crate::journey::{Project, Run};

/// Maximum size of the bundle in bytes, with the page. A function loads the bundle before it starts.
const BUNDLE_BYTES: u64 = 5_300_000;

/// Returns a static program for this processor that does nothing.
fn minimal_program(machine: u16) -> Vec<u8> {
    let mut binary = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0".to_vec();
    binary.extend(machine.to_le_bytes());
    binary.extend(1_u32.to_le_bytes());
    [0x40_0000_u64, 0, 0].iter().for_each(|word| binary.extend(word.to_le_bytes()));
    binary.extend([0, 0, 0, 0, 64, 0, 56, 0, 0, 0, 64, 0, 0, 0, 0, 0]);
    binary
}

fn report(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.is_empty(), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn bootstrap_in(zip: &Path) -> Vec<u8> {
    let mut zip = zip::ZipArchive::new(Cursor::new(fs::read(zip).unwrap())).unwrap();
    let mut binary = Vec::new();
    zip.by_name("bootstrap").unwrap().read_to_end(&mut binary).unwrap();
    binary
}

#[test]
fn a_binary_that_was_built_elsewhere_is_packed() {
    let project = Project::new();
    fs::write(project.path("cellar.yaml"), "architecture: arm64\n").unwrap();
    fs::write(project.path("built"), minimal_program(183)).unwrap();
    let made = report(&project.synth(&["--json", "bundle", "--binary", "built"]));
    let name = made["name"].as_str().unwrap();
    let hash = made["blake3"].as_str().unwrap();
    assert_eq!(name, format!("bootstrap-{}-arm64.zip", hash.get(..16).unwrap()));
    assert_eq!((&made["architecture"], &made["glibc"]), (&"arm64".into(), &Value::Null));
    let packed = fs::read(project.path(name)).unwrap();
    assert_eq!(made["bytes"], packed.len());
    assert_eq!(bootstrap_in(&project.path(name)), minimal_program(183));

    // A bundle as input gives the same bundle; an output folder gets the default file name.
    fs::create_dir(project.path("folder")).unwrap();
    let again = project.synth(&["bundle", "--binary", name, "-o", "folder"]);
    assert!(again.code == 0 && again.stdout.starts_with(name), "{again:?}");
    assert!(again.stdout.contains("it is linked statically"), "{again:?}");
    assert_eq!(fs::read(project.path("folder").join(name)).unwrap(), packed);
}

#[test]
fn a_binary_that_lambda_cannot_run_is_refused() {
    let project = Project::new();
    fs::write(project.path("built"), minimal_program(183)).unwrap();
    let arguments = ["bundle", "--binary", "built", "--architecture", "x86_64", "-o", "out.zip"];
    let run = project.synth(&arguments);
    assert!(run.code == 1 && run.stdout.is_empty(), "{run:?}");
    assert!(run.stderr.contains("it is for arm64, but the functions are for x86_64"), "{run:?}");
    assert!(!project.path("out.zip").exists());
    let run = project.synth(&[["--json"].as_slice(), &arguments].concat());
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(error["error"]["code"], "synth::bundle_unfit");
    fs::write(project.path("built"), "#!/bin/sh\n").unwrap();
    let run = project.synth(&arguments);
    assert!(run.code == 1 && run.stderr.contains("it is a script"), "{run:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "builds the bundle, which takes minutes; .ci/run runs it"]
async fn the_bundle_is_small_and_serves_as_every_function() {
    let project = Project::new();
    let made = report(&project.synth(&["--json", "bundle", "-o", "bundle.zip"]));
    assert!(made["bytes"].as_u64().unwrap() <= BUNDLE_BYTES, "{made}");
    let program = project.path("bootstrap");
    fs::write(&program, bootstrap_in(&project.path("bundle.zip"))).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let program = program.to_str().unwrap();
    bootstrap::serves_the_api(program).await;
    bootstrap::relays_a_stream(program).await;
    bootstrap::indexes_a_stream(program).await;
    bootstrap::delivers_to_public_addresses_only(program).await;
    bootstrap::makes_snapshots(program).await;
    // A second build gives the same bundle.
    let again = report(&project.synth(&["--json", "bundle", "-o", "again.zip"]));
    assert_eq!(made["name"], again["name"]);
    let [first, second] = ["bundle.zip", "again.zip"].map(|name| fs::read(project.path(name)));
    assert_eq!(first.unwrap(), second.unwrap());
}
