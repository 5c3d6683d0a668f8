//! Build tests, in which scripts replace cargo.
#![cfg(unix)]

use std::fs;

use cellar_stacks::Architecture::{self, Arm64, X86_64};
use tempfile::TempDir;

use super::super::elf::fixture::Fixture;
use super::super::host::tests::{GRAVITON, MAC};
use super::*;

/// The script is checked in. A script that the test writes might fail to run, because a child
/// process forked by another test thread could still have the file open for writing.
const CARGO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bundle/build/test-cargo");

/// Source directory with scripts that replace the cargo commands.
struct Checkout {
    folder: TempDir,
    output: Output,
}

impl Checkout {
    /// Creates the scripts for `cargo build` and `cargo zigbuild`. If `zigbuild` is empty, `cargo
    /// zigbuild` appears to be missing.
    fn new(build: &str, zigbuild: &str) -> Self {
        let checkout = Self { folder: tempfile::tempdir().unwrap(), output: Output::new(true) };
        fs::create_dir(checkout.path("runtime")).unwrap();
        let version = if zigbuild.is_empty() { "exit 101" } else { "exit 0" };
        for (name, content) in [
            ("runtime/Cargo.toml", ""),
            ("build", build),
            ("zigbuild", zigbuild),
            ("version", version),
        ] {
            fs::write(checkout.path(name), content).unwrap();
        }
        checkout
    }

    fn with_binary(self, name: &str, fixture: &Fixture) -> Self {
        fs::write(self.path(name), fixture.bytes()).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self, host: Host, architecture: Architecture) -> Result<CheckedBinary, BundleError> {
        self.build_by(CARGO, host, architecture)
    }

    fn build_by(
        &self,
        cargo: &str,
        host: Host,
        architecture: Architecture,
    ) -> Result<CheckedBinary, BundleError> {
        let (sources, output) = (self.folder.path().to_owned(), &self.output);
        Builder { cargo: cargo.into(), sources, host, output }.build(architecture)
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

/// Returns a script that reports a binary in the working directory, as cargo does.
fn report_binary(name: &str) -> String {
    let message = r#"{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"bootstrap"},"#;
    format!(r#"echo '{{"reason":"x"}}'; echo '{message}"executable":"'"$PWD/{name}"'"}}'"#)
}

/// Returns a binary that requires a newer GLIBC version than the one on Lambda.
fn too_new(architecture: Architecture) -> Fixture {
    Fixture::sound(architecture).with("libc.so.6", ("GLIBC_2.38", 0, "strtol"))
}

#[test]
fn uses_the_binary_that_cargo_reports() {
    let checkout = Checkout::new(&report_binary("some-where"), "");
    let checkout = checkout.with_binary("some-where", &Fixture::sound(Arm64));
    let checked = checkout.build(GRAVITON, Arm64).unwrap();
    assert!(checked.bundle_name().ends_with("-arm64.zip"), "{}", checked.bundle_name());
    assert_eq!(
        checkout.calls(),
        ["build --locked --profile lambda -p cellar-runtime --bin bootstrap \
          --message-format=json-render-diagnostics"]
    );
}

#[test]
fn a_failed_build_is_reported_with_its_last_lines() {
    let mut script =
        "i=0; while [ $i -lt 40 ]; do echo \"line $i\" >&2; i=$((i+1)); done".to_owned();
    script.push_str("; exit 101");
    let error = Checkout::new(&script, "").build(GRAVITON, Arm64).unwrap_err();
    let BundleError::Build { last_lines, status, .. } = error else { panic!("{error:?}") };
    assert_eq!(status.code(), Some(101));
    assert!(
        last_lines.starts_with("line 10\n") && last_lines.ends_with("\nline 39"),
        "{last_lines}"
    );
}

#[test]
fn much_output_on_both_pipes_does_not_block() {
    let noise = "i=0; while [ $i -lt 3000 ]; do echo \"0123456789012345678901234567890 $i\"; echo \
                 \"0123456789012345678901234567890 $i\" >&2; i=$((i+1)); done; ";
    let checkout = Checkout::new(&format!("{noise}{}", report_binary("b")), "");
    let checkout = checkout.with_binary("b", &Fixture::sound(Arm64));
    assert!(checkout.build(GRAVITON, Arm64).is_ok());
}

#[test]
fn a_missing_binary_and_a_missing_cargo_are_reported() {
    let error = Checkout::new("true", "").build(GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::NoBinary { .. }), "{error:?}");
    let checkout = Checkout::new("true", "");
    let error = checkout.build_by("/no/such/cargo", GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Cargo { .. }), "{error:?}");
    fs::remove_file(checkout.path("runtime/Cargo.toml")).unwrap();
    let error = checkout.build(GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Sources { .. }), "{error:?}");
}

#[test]
fn another_architecture_needs_a_cross_compiler() {
    for (host, architecture) in [(MAC, Arm64), (GRAVITON, X86_64)] {
        let checkout = Checkout::new("true", "");
        let error = checkout.build(host, architecture).unwrap_err();
        let BundleError::NeedsCrossCompiler { help, .. } = error else { panic!("{error:?}") };
        let target = target_triple(architecture);
        assert!(help.contains("\n  pip install cargo-zigbuild\n"), "{help}");
        assert!(help.contains(&format!("\n  rustup target add {target}\n")), "{help}");
        assert_eq!(checkout.calls(), ["zigbuild --version"]);
    }
}

#[test]
fn zigbuild_builds_for_another_architecture() {
    let checkout = Checkout::new("exit 1", &report_binary("b"));
    let checkout = checkout.with_binary("b", &Fixture::sound(X86_64));
    assert!(checkout.build(GRAVITON, X86_64).unwrap().bundle_name().ends_with("-x86_64.zip"));
    let last = checkout.calls().pop().unwrap();
    assert!(last.starts_with("zigbuild --locked"), "{last}");
    assert!(last.ends_with("--target x86_64-unknown-linux-gnu.2.34"), "{last}");
}

#[test]
fn zigbuild_replaces_a_binary_with_a_too_new_glibc() {
    let checkout = Checkout::new(&report_binary("new"), "").with_binary("new", &too_new(Arm64));
    let error = checkout.build(GRAVITON, Arm64).unwrap_err();
    assert!(error.to_string().contains("GLIBC_2.38"), "{error}");
    let checkout = Checkout::new(&report_binary("new"), &report_binary("old"))
        .with_binary("new", &too_new(Arm64));
    let checkout = checkout.with_binary("old", &Fixture::sound(Arm64));
    assert!(checkout.build(GRAVITON, Arm64).is_ok());
    assert_eq!(checkout.calls().len(), 3);
}

#[test]
fn a_binary_for_another_architecture_is_rejected() {
    let checkout = Checkout::new(&report_binary("b"), &report_binary("b"));
    let checkout = checkout.with_binary("b", &Fixture::sound(X86_64));
    let error = checkout.build(GRAVITON, Arm64).unwrap_err();
    assert!(matches!(error, BundleError::Unfit { .. }), "{error:?}");
    // There is no fallback to `cargo zigbuild`, which would not change the architecture.
    assert_eq!(checkout.calls().len(), 1);
}
